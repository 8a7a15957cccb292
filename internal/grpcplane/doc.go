// Package grpcplane is a second data plane, for tests. It runs the rules that package xds
// compiles for Envoy on the RBAC engine of grpc-go, which is another implementation of the
// same filter. Only tests use it.
//
// A [Plane] is an xDS-enabled gRPC server in this process. Its control plane serves it a
// listener with mTLS, the filter envoy.filters.http.rbac, and a route for each program.
// The route has the rules of its program in an RBACPerRoute. So one server and one push
// judge any number of programs, and a caller asks all of them over one connection.
// [Plane.Ask] returns the decision when the answer of the caller and the request that the
// service saw agree.
//
// [Rules] refuses programs that grpc-go cannot run:
//   - ordered gates, because grpc-go knows no matcher, only named rules;
//   - more than one gate, and routes.
//
// [Rules] drops shadows. The package compares no names of rules, because grpc-go reports
// any of the rules that match. It judges the gate of a connection (GEP-3779) for each
// request, so a refusal is PERMISSION_DENIED instead of a closed connection. Every method
// is POST.
//
// The package does not test mTLS. The server trusts the CAs of all trust domains from one
// file, so certificates that Envoy's SPIFFE validator would refuse still reach the rules.
// The handshake refuses a caller without a certificate, because grpc-go asks for a
// certificate only when it demands one.
package grpcplane
