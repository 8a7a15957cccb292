package rbac

import (
	"bytes"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/meshproof/meshproof/internal/messages"
)

// AskForSNI reports whether one of the filters may ask for the server name of a handshake.
// Envoy knows it only behind a TLS inspector: without it no server name ever matches. A
// filter counts that has the name of the input anywhere, in an extension too.
func AskForSNI(filters []proto.Message) bool {
	for _, filter := range filters {
		if route, ok := filter.(*httprbacv3.RBACPerRoute); ok {
			filter = route.GetRbac()
		}
		packed, err := proto.Marshal(filter)
		if err != nil || bytes.Contains(packed, []byte("ServerNameInput")) || bytes.Contains(packed, []byte("requested_server_name")) {
			return true
		}
		named, ok := filter.(interface {
			GetRules() *rbacv3.RBAC
			GetShadowRules() *rbacv3.RBAC
		})
		if ok && (permitsBySNI(named.GetRules()) || permitsBySNI(named.GetShadowRules())) {
			return true
		}
	}
	return false
}

// permitsBySNI reports whether a permission asks for the server name.
func permitsBySNI(rules *rbacv3.RBAC) bool {
	found := false
	messages.Visitor{
		Message: func(m protoreflect.Message, _ *messages.Path) {
			permission, ok := m.Interface().(*rbacv3.Permission)
			found = found || ok && permission.GetRequestedServerName() != nil
		},
		Closed: func(string, string, *messages.Path) {},
		Opened: func(string, []messages.Fault, *messages.Path) {},
	}.Visit(rules.ProtoReflect())
	return found
}
