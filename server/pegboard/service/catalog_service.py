"""`CatalogService`: what can be played."""

from __future__ import annotations

from functools import cache
from typing import Any

import grpc

from pegboard.errors import InvalidRequest
from pegboard.rpc.calls import service_handler
from pegboard.rpc.gate import Access, Call, Gate
from pegboard.rpc.names import read_id
from pegboard.rules.catalog import CATALOG, find
from pegboard.rules.game import Option
from pegboard.rules.names import VARIANTS
from pegboard.rules.plain import plain
from pegboard.v1 import catalog_pb2

SERVICE = catalog_pb2.DESCRIPTOR.services_by_name["CatalogService"]
CALLS = {"GetVariant": Call(Access.EVERYBODY), "ListVariants": Call(Access.EVERYBODY, 2)}
PAGE_DEFAULT, PAGE_MAX = 50, 1000


def page_size(asked: int) -> int:
    """Return how many to list for a request. Raises `InvalidRequest` for a negative number."""
    if asked < 0:
        raise InvalidRequest(f"page_size is {asked}; it is 0 for {PAGE_DEFAULT}, or positive")
    return min(asked or PAGE_DEFAULT, PAGE_MAX)


@cache
def variant_message(variant_id: str) -> catalog_pb2.Variant:
    """Return a variant of the catalog as a message."""
    variant = CATALOG[variant_id]
    game = variant.game
    return catalog_pb2.Variant(
        name=VARIANTS + variant.id,
        title=variant.title,
        family=game.family,
        seats=game.seats,
        summary=variant.summary,
        options=map(_option_message, game.options()),
    )


def _option_message(option: Option) -> catalog_pb2.VariantOption:
    message = catalog_pb2.VariantOption(
        key=option.key, help=option.help, default_value=option.default
    )
    if option.high > option.low:
        message.number.min, message.number.max = option.low, option.high
        message.number.words.extend(option.values)
    elif option.values:
        message.word.words.extend(option.values)
    else:
        message.text.SetInParent()
    return message


class CatalogService:
    """Answers from the catalog in the rules."""

    def handler(self, gate: Gate) -> grpc.GenericRpcHandler:
        """Return what to register."""
        return service_handler(SERVICE, self, CALLS, gate)

    async def GetVariant(
        self, request: catalog_pb2.GetVariantRequest, context: Any
    ) -> catalog_pb2.GetVariantResponse:
        """Return one variant."""
        variant = find(plain(read_id(VARIANTS, request.name)))
        return catalog_pb2.GetVariantResponse(variant=variant_message(variant.id))

    async def ListVariants(
        self, request: catalog_pb2.ListVariantsRequest, context: Any
    ) -> catalog_pb2.ListVariantsResponse:
        """Return a page of the catalog; the page token is the id of the first variant on it."""
        ids = list(CATALOG)
        start = 0
        if request.page_token:
            if request.page_token not in CATALOG:
                raise InvalidRequest("the page_token is not of this list; start without one")
            start = ids.index(request.page_token)
        end = start + page_size(request.page_size)
        return catalog_pb2.ListVariantsResponse(
            variants=[variant_message(variant) for variant in ids[start:end]],
            next_page_token=ids[end] if end < len(ids) else "",
        )
