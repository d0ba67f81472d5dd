"""`CatalogService`: what can be played."""

from __future__ import annotations

from typing import Any

from pegboard.rules.catalog import CATALOG, Variant, find
from pegboard.rules.errors import InvalidRequest
from pegboard.service.errors import unary
from pegboard.v1 import catalog_pb2, catalog_pb2_grpc

COLLECTION = "variants/"
PAGE_DEFAULT, PAGE_MAX = 50, 1000


def page_size(asked: int) -> int:
    """Return how many to list for a request. Raises `InvalidRequest` for a negative number."""
    if asked < 0:
        raise InvalidRequest(f"page_size is {asked}; it is 0 for {PAGE_DEFAULT}, or positive")
    return min(asked or PAGE_DEFAULT, PAGE_MAX)


def variant_message(variant: Variant) -> catalog_pb2.Variant:
    """Return a variant as a message."""
    game = variant.game
    return catalog_pb2.Variant(
        name=COLLECTION + variant.id,
        variant_id=variant.id,
        title=variant.title,
        family=game.family,
        seats=game.seats,
        summary=variant.summary,
        options=[
            catalog_pb2.VariantOption(
                key=option.key,
                help=option.help,
                default_value=option.default,
                values=option.values,
                min=option.low,
                max=option.high,
            )
            for option in game.options()
        ],
    )


class CatalogService(catalog_pb2_grpc.CatalogServiceServicer):
    """Answers from the catalog in the rules."""

    @unary
    async def GetVariant(
        self, request: catalog_pb2.GetVariantRequest, context: Any
    ) -> catalog_pb2.GetVariantResponse:
        """Return one variant."""
        if not request.name.startswith(COLLECTION):
            raise InvalidRequest(
                f"no variant name {request.name[:80]!r}; write variants/ and the id"
            )
        variant = find(request.name[len(COLLECTION) :])
        return catalog_pb2.GetVariantResponse(variant=variant_message(variant))

    @unary
    async def ListVariants(
        self, request: catalog_pb2.ListVariantsRequest, context: Any
    ) -> catalog_pb2.ListVariantsResponse:
        """Return a page of the catalog; the page token is the id of the first variant on it."""
        ids = list(CATALOG)
        start = 0
        if request.page_token:
            if request.page_token not in CATALOG:
                raise InvalidRequest("the page_token is none of this list; start without one")
            start = ids.index(request.page_token)
        end = start + page_size(request.page_size)
        return catalog_pb2.ListVariantsResponse(
            variants=[variant_message(CATALOG[variant]) for variant in ids[start:end]],
            next_page_token=ids[end] if end < len(ids) else "",
        )
