"""Names in requests: one sentence says how to write them, whatever call has a wrong one."""

from __future__ import annotations

from typing import Any

import grpc
import grpc.aio
import pytest
from tests.service.rig import ORGANISER, metadata_of, serving, token_of

from pegboard.client.channel import error_from
from pegboard.errors import InvalidRequest
from pegboard.rpc.names import ID_MOST, read_id
from pegboard.v1 import catalog_pb2, match_pb2, play_pb2

WRONG = "games/7"


def test_a_name_is_a_collection_and_an_id() -> None:
    """What is longer than any id is cut off."""
    assert read_id("matches/", "matches/m-1") == "m-1"
    assert len(read_id("matches/", "matches/" + "m" * 1000)) == ID_MOST
    for wrong in ("", "m-1", "matches", "matches/", "bots/m-1", "/matches/m-1"):
        with pytest.raises(InvalidRequest, match=f"write matches/ID, not '{wrong}'"):
            read_id("matches/", wrong)


def spec(variant: str = "variants/draw", bot: str = "bots/bob") -> match_pb2.CreateMatchRequest:
    """A request for a match."""
    return match_pb2.CreateMatchRequest(
        spec=match_pb2.MatchSpec(variant=variant, bots=["bots/alice", bot])
    )


CALLS: dict[str, tuple[str, Any]] = {
    "CatalogService/GetVariant": ("variants/", catalog_pb2.GetVariantRequest(name=WRONG)),
    "MatchService/GetMatch": ("matches/", match_pb2.GetMatchRequest(name=WRONG)),
    "MatchService/CancelMatch": ("matches/", match_pb2.CancelMatchRequest(name=WRONG)),
    "MatchService/ForfeitMatch": ("matches/", match_pb2.ForfeitMatchRequest(name=WRONG)),
    "MatchService/GetMatchRecord": ("matches/", match_pb2.GetMatchRecordRequest(name=WRONG)),
    "MatchService/ListMatches": ("variants/", match_pb2.ListMatchesRequest(variant=WRONG)),
    "MatchService/ListMatches of a bot": ("bots/", match_pb2.ListMatchesRequest(bot=WRONG)),
    "MatchService/CreateMatch": ("variants/", spec(variant=WRONG)),
    "MatchService/CreateMatch of a bot": ("bots/", spec(bot=WRONG)),
    "PlayService/GetTurn": ("matches/", play_pb2.GetTurnRequest(match=WRONG)),
    "PlayService/SubmitMove": (
        "matches/",
        play_pb2.SubmitMoveRequest(answer=play_pb2.Answer(match=WRONG, index=0)),
    ),
}


@pytest.mark.parametrize("call", list(CALLS))
async def test_a_call_with_a_wrong_name_is_told_the_right_form(call: str) -> None:
    collection, request = CALLS[call]
    metadata = [("authorization", f"Bearer {ORGANISER}")]
    if call.startswith("PlayService"):
        metadata = metadata_of("alice")
    async with serving() as rig, grpc.aio.insecure_channel(rig.address) as channel:
        method: Any = channel.unary_unary(f"/pegboard.v1.{call.partition(' ')[0]}")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await method(request.SerializeToString(), metadata=metadata)
    error = error_from(caught.value)
    assert isinstance(error, InvalidRequest)
    assert str(error) == f"write {collection}ID, not '{WRONG}'"


@pytest.mark.parametrize(
    "message",
    [
        {"answers": [play_pb2.Answer(match="m-1", index=0)]},
        {"resignations": [play_pb2.Resignation(match="m-1")]},
    ],
    ids=["answer", "resignation"],
)
async def test_on_a_stream_a_wrong_name_is_a_rejection(message: dict[str, Any]) -> None:
    """Also if it is the bare id of a match of the bot."""
    async with serving() as rig:
        wire = rig.wire(token_of("alice"))
        await wire.hello()
        async with rig.organiser() as organiser:
            request = spec()
            request.match_id = "m-1"
            await organiser.create([request])
        await wire.send(**message)
        rejected = await wire.rejection()
        assert rejected.reason == play_pb2.REJECTION_REASON_UNKNOWN_SEAT
        assert rejected.detail == "write matches/ID, not 'm-1'"
        assert rig.host.running()
