// Package requestline knows the method and the target of an HTTP request when its caller
// leaves them out, or calls a method of gRPC.
//
// It guarantees that all who ask Envoy and all who expect an answer mean the same request, and
// that all texts name it alike. It knows no normalization of paths.
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

// Clause names, in a text about a request, what it asks for: the method of gRPC, or the method and the
// target. It is empty for a connection, which is not HTTP.
func Clause(method, path, grpc string, isHTTP bool) string {
	switch {
	case grpc != "":
		return " " + grpc
	case isHTTP:
		method, path = MethodAndTarget(method, path, "")
		return " " + method + " " + path
	default:
		return ""
	}
}
