"""The TLS credentials of a server."""

from __future__ import annotations

import ssl

import grpc

from pegboard.errors import InvalidRequest
from pegboard.service.settings import ServeSettings


def tls_credentials(settings: ServeSettings) -> grpc.ServerCredentials | None:
    """Return TLS credentials, or None without a certificate. Raises `InvalidRequest`."""
    certificate, key = settings.tls_certificate, settings.tls_key
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise InvalidRequest("TLS needs both, the certificate and its key")
    try:
        pair = (key.read_bytes(), certificate.read_bytes())
        # gRPC would take anything here, and say only later that it cannot listen.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=str)
    except ssl.SSLError as error:
        raise InvalidRequest(
            f"{certificate} and {key} are not a certificate and its own key without a password, both"
            f" PEM ({error.reason or error})"
        ) from None
    except OSError as error:
        raise InvalidRequest(f"cannot read the TLS files: {error}") from None
    return grpc.ssl_server_credentials([pair])
