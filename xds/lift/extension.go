package lift

import (
	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/policy"
)

// extension is what a matcher packs: an input, an action, a matcher of another kind. The
// message is only read, since equal ones are one.
type extension struct {
	message proto.Message
	// err says why there is no message.
	err error
	// shown is the attribute that an input shows, nil for none. It is found when it is
	// first asked for.
	shown *policy.Attribute
	asked bool
}

// content is that of an extension, without the name that it has in its place.
type content struct{ typeURL, value string }

// open unpacks an extension. A map of ten thousand identities has ten thousand equal
// actions, and its input is read for each of them.
func (t *translator) open(config *xdscorev3.TypedExtensionConfig) *extension {
	of := config.GetTypedConfig()
	if known := t.extensions[content{of.GetTypeUrl(), string(of.GetValue())}]; known != nil {
		return known
	}
	message, _, err := messages.Unpack(of)
	opened := &extension{message: message, err: err}
	if t.extensions == nil {
		t.extensions = map[content]*extension{}
	}
	t.extensions[content{of.GetTypeUrl(), string(of.GetValue())}] = opened
	return opened
}

// attribute returns what an input shows, and nil for none.
func (in *extension) attribute() *policy.Attribute {
	if !in.asked {
		in.shown, in.asked = rbac.Shown(in.message), true
	}
	return in.shown
}
