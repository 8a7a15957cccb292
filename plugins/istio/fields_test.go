package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"istio.io/api/security/v1beta1"
)

var update = flag.Bool("update", false, "write testdata/fields.txt anew")

// TestFields holds the list of fields against the types of istio.io/api. A test of the main module
// holds what meshproof reads against the list.
func TestFields(t *testing.T) {
	t.Parallel()
	const path = "testdata/fields.txt"
	var b strings.Builder
	for _, one := range []struct {
		kind string
		spec proto.Message
	}{
		{"AuthorizationPolicy", &v1beta1.AuthorizationPolicy{}}, {"PeerAuthentication", &v1beta1.PeerAuthentication{}}, {"RequestAuthentication", &v1beta1.RequestAuthentication{}},
	} {
		writeFields(&b, one.kind+" spec", one.spec.ProtoReflect().Descriptor())
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(recorded) != b.String() {
		t.Errorf("%s is not what istio.io/api has: go test -run TestFields -update, and then the tests of ../..:\n%s", path, b.String())
	}
}

// writeFields writes the path of each field of a message, a list with [] and a map with {} behind it.
func writeFields(b *strings.Builder, at string, of protoreflect.MessageDescriptor) {
	for i := range of.Fields().Len() {
		field := of.Fields().Get(i)
		path, inner := at+"."+field.JSONName(), field.Message()
		switch {
		case field.IsMap():
			path, inner = path+"{}", field.MapValue().Message()
		case field.IsList():
			path += "[]"
		}
		b.WriteString(path + "\n")
		// A time is a text.
		if inner != nil && !strings.HasPrefix(string(inner.FullName()), "google.protobuf.") {
			writeFields(b, path, inner)
		}
	}
}
