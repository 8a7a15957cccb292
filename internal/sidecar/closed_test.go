package sidecar

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/meshproof/meshproof/internal/messages"
)

// A misspelt field of a closed list would make an honest dump unverified.
func TestClosedListsNameFields(t *testing.T) {
	t.Parallel()
	for _, list := range []messages.Closed{known, passing, knownTLS} {
		for message, reasons := range list {
			found, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(message))
			if err != nil {
				t.Errorf("%s: %v", message, err)
				continue
			}
			seen := map[string]bool{}
			for _, names := range reasons {
				for _, name := range strings.Fields(names) {
					if found.Descriptor().Fields().ByName(protoreflect.Name(name)) == nil || seen[name] {
						t.Errorf("%s has no field %q, or the list has it twice", message, name)
					}
					seen[name] = true
				}
			}
		}
	}
}
