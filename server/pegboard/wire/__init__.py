"""Rules to and from protobuf, both ways: for the service and for the Python kit.

Pure conversion: no gRPC call is made and no clock is read here.
"""
