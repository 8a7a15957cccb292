// Package grpcplane is a second data plane: it runs the rules that package xds compiles
// for Envoy on the RBAC engine of grpc-go, another implementation of the same filter.
//
// A [Plane] is an xDS-enabled gRPC server in this process. Its control plane serves it a
// listener with mTLS, envoy.filters.http.rbac and a route for each program, whose own
// rules stand in an RBACPerRoute; so one server and one push judge any number of
// programs, and a caller asks all of them over one connection. [Plane.Ask] returns the
// decision once the answer of the caller and what the service saw agree.
//
// What grpc-go cannot run is refused by [Rules]:
//   - ordered gates: it knows no matcher, only named rules;
//   - more than one gate, and routes.
//
// A shadow is left out, and no names are compared: of the rules that match grpc-go takes
// any. The gate of a connection (GEP-3779) is judged for each request, so that a refusal
// is PERMISSION_DENIED in the place of a closed connection. Every method is POST.
//
// mTLS is not under test here. The server trusts the CAs of all trust domains alike, from
// one file, so that certificates reach the rules that the SPIFFE validator of Envoy would
// refuse; whoever shows none is refused by the handshake, for without the demand grpc-go
// never asks for a certificate.
package grpcplane
