// Package requestline knows the method and the target of an HTTP request when its caller
// leaves them out, or calls a method of gRPC.
//
// It guarantees that all who ask Envoy and all who expect an answer mean the same request.
// It knows no normalization of paths.
package requestline

// MethodAndTarget returns the method and the target of an HTTP request as its caller sends
// them. An empty method is GET, and an empty path is "/". A gRPC call, "Service/Method",
// is a POST to "/Service/Method"; it has no method and no path of its own.
func MethodAndTarget(method, path, grpc string) (verb, target string) {
	if grpc != "" {
		return "POST", "/" + grpc
	}
	if method == "" {
		method = "GET"
	}
	if path == "" {
		path = "/"
	}
	return method, path
}
