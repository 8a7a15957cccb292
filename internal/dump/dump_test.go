package dump

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	adminv3 "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/messages"
)

// describe has a line for each resource, and for each Unknown.
func describe(r *Resources, err error) string {
	if err != nil {
		return err.Error() + "\n"
	}
	var out strings.Builder
	line := func(what, name string, m proto.Message, faults []messages.Fault) {
		fmt.Fprintf(&out, "%s %q: %s", what, name, m.ProtoReflect().Descriptor().Name())
		for _, f := range faults {
			fmt.Fprintf(&out, ", not read: %s", strings.TrimSpace(f.Path.String()+" "+f.What))
		}
		out.WriteByte('\n')
	}
	if r.Envoy != "" {
		fmt.Fprintf(&out, "Envoy %s\n", r.Envoy)
	}
	for _, d := range r.Listeners {
		line("listener", d.Message.Name, d.Message, d.Faults)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Routes)) {
		line("routes", name, r.Routes[name].Message, r.Routes[name].Faults)
	}
	for _, set := range slices.Sorted(maps.Keys(r.scopes)) {
		for _, d := range r.scopes[set] {
			line("scope of "+set, d.Message.Name, d.Message, d.Faults)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Extensions)) {
		fmt.Fprintf(&out, "extension %q: %s\n", name, messages.Name(r.Extensions[name].Message.GetTypeUrl()))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Clusters)) {
		line("cluster", name, r.Clusters[name].Message, r.Clusters[name].Faults)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Assignments)) {
		line("endpoints", name, r.Assignments[name], nil)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Validations)) {
		line("validation", name, r.Validations[name].Message, r.Validations[name].Faults)
	}
	for _, u := range r.Unattached {
		fmt.Fprintf(&out, "filters of %q, inbound %q, protocol %q\n", u.File, u.Inbound, u.Protocol)
		for _, f := range u.Filters {
			fmt.Fprintf(&out, "  filter %q: %s\n", f.Name, messages.Name(f.Message.GetTypeUrl()))
		}
	}
	for _, u := range r.Unknown {
		fmt.Fprintf(&out, "%s: %s\n", u.Kind, u)
	}
	return out.String()
}

// TestParse reads dumps. The archives have what is in their resources.
func TestParse(t *testing.T) {
	t.Parallel()
	golden.Archives(t, "*.txtar", func(t *testing.T, input string) []txtar.File {
		return []txtar.File{{Name: "resources", Data: []byte(describe(Parse([]byte(input))))}}
	})
}

// TestJunk puts junk in each place of each dump. No place makes Parse panic, and a resource that
// decides about requests is not lost without a word: an error or an Unknown tells.
func TestJunk(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	places := 0
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var root any
		if json.Unmarshal(archive.Files[0].Data, &root) != nil {
			continue // a dump that is no JSON
		}
		whole, err := Parse(archive.Files[0].Data)
		if err != nil {
			continue
		}
		told := unknowns(whole)
		for _, place := range placesOf(root) {
			places++
			for _, junk := range []any{json.Number("7"), "junk", true, []any{"junk"}, map[string]any{"junk": "junk"}} {
				was := place.swap(junk)
				data, err := json.Marshal(root)
				place.swap(was)
				if err != nil {
					t.Fatal(err)
				}
				got, err := Parse(data)
				if err != nil || slices.ContainsFunc(unknowns(got), func(text string) bool { return !slices.Contains(told, text) }) {
					continue
				}
				if lost := lostOf(whole, got); lost != "" {
					t.Errorf("%s: with %v at %s, %s is lost and nothing tells", filepath.Base(path), junk, place.path, lost)
				}
			}
		}
	}
	if places < 100 {
		t.Errorf("%d places", places)
	}
}

func unknowns(r *Resources) (out []string) {
	for _, u := range r.Unknown {
		out = append(out, u.Kind.String()+": "+u.String())
	}
	return out
}

// lostOf names a listener, routes, an extension or a validation that the second resources lack.
func lostOf(whole, rest *Resources) string {
	if len(rest.Listeners) < len(whole.Listeners) {
		return "a listener"
	}
	for name := range whole.Routes {
		if _, ok := rest.Routes[name]; !ok && len(rest.Routes) < len(whole.Routes) {
			return "route configuration " + name
		}
	}
	for name := range whole.Extensions {
		if _, ok := rest.Extensions[name]; !ok && len(rest.Extensions) < len(whole.Extensions) {
			return "extension " + name
		}
	}
	if len(rest.Unattached) < len(whole.Unattached) {
		return "a list of filters"
	}
	return ""
}

// place is where a value stands in a tree.
type place struct {
	path string
	swap func(any) any
}

func placesOf(tree any) (out []place) {
	var walk func(path string, tree any)
	walk = func(path string, tree any) {
		switch tree := tree.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(tree)) {
				out = append(out, place{path + "." + key, func(v any) any { was := tree[key]; tree[key] = v; return was }})
				walk(path+"."+key, tree[key])
			}
		case []any:
			for i := range tree {
				at := fmt.Sprintf("%s[%d]", path, i)
				out = append(out, place{at, func(v any) any { was := tree[i]; tree[i] = v; return was }})
				walk(at, tree[i])
			}
		}
	}
	walk("", tree)
	return out
}

// TestPartsAreFields holds the names of fields against the messages of the Envoy that meshproof is
// built with. The archive of fields shows what makes an inbound "not verified".
func TestPartsAreFields(t *testing.T) {
	t.Parallel()
	_ = &adminv3.ConfigDump{} // the messages of the package are registered
	var out bytes.Buffer
	for _, message := range slices.Sorted(maps.Keys(parts)) {
		if message == runtimeAnswer {
			continue // JSON that no message defines
		}
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(message))
		if err != nil {
			t.Errorf("%s: %v", message, err)
			continue
		}
		fields := d.(protoreflect.MessageDescriptor).Fields()
		known := strings.Fields(parts[message])
		for _, name := range known {
			if fields.ByName(protoreflect.Name(name)) == nil {
				t.Errorf("%s has no field %s", message, name)
			}
		}
		var unread []string
		for i := range fields.Len() {
			if name := string(fields.Get(i).Name()); !slices.Contains(known, name) {
				unread = append(unread, name)
			}
		}
		fmt.Fprintf(&out, "%s: %s\n", message, strings.Join(unread, " "))
	}
	golden.Compare(t, "unread-fields.golden", out.String())
}

// TestBounds gives inputs that are too large, too deep, or no regular file.
func TestBounds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	sparse := func(size int64) fs.FS {
		dir := t.TempDir()
		name := filepath.Join(dir, "large.json")
		if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, size); err != nil {
			t.Fatal(err)
		}
		return os.DirFS(dir)
	}
	for name, tt := range map[string]struct {
		read func() (*Resources, error)
		want string
	}{
		"a dump that is too large": {func() (*Resources, error) { return Parse(make([]byte, messages.MaxSize+1)) }, "the limit is"},
		"a file that is too large": {func() (*Resources, error) { return Folder(sparse(messages.MaxSize + 1)) }, "large.json: "},
		"a FIFO":                   {func() (*Resources, error) { return Folder(os.DirFS(dir)) }, "fifo.json: "},
		"deep lists":               {func() (*Resources, error) { return Parse([]byte(strings.Repeat("[", 600) + strings.Repeat("]", 600))) }, "deeper than 512 levels"},
		"deep objects": {func() (*Resources, error) {
			return Parse([]byte(strings.Repeat(`{"configs":`, 600) + "7" + strings.Repeat("}", 600)))
		}, "deeper than 512 levels"},
		"a key twice":            {func() (*Resources, error) { return Parse([]byte(`{"configs": [], "configs": []}`)) }, "configs"},
		"a folder without files": {func() (*Resources, error) { return Folder(fstest.MapFS{"a.txt": {}}) }, "it has no file *.json"},
		"the second of two files": {func() (*Resources, error) {
			return Folder(fstest.MapFS{"a.json": {Data: []byte(`{"configs": []}`)}, "b.json": {Data: []byte("7")}})
		}, "b.json: it is neither"},
		"what Kuma's control plane computes": {func() (*Resources, error) {
			return Parse([]byte(`{"xds": {"type.googleapis.com/envoy.config.listener.v3.Listener": {}}}`))
		}, "--type=config-dump"},
		"a folder that is not there": {func() (*Resources, error) { return Folder(os.DirFS(filepath.Join(dir, "none"))) }, "read folder: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r, err := tt.read(); r != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v, want an error with %q", r, err, tt.want)
			}
		})
	}
}

// TestUnknownIsOneLine shows that no name in a dump writes a line of its own, or a control
// character.
func TestUnknownIsOneLine(t *testing.T) {
	t.Parallel()
	u := Unknown{Kind: Lost, Listener: "a\nb", Chain: "c\x1b[31m", Filter: "d", Type: "t", Path: "p", Reason: "r\x07\u202e"}
	if diff := cmp.Diff(`listener "a\nb": filter chain "c\x1b[31m": filter "d": p: t: r??`, strings.NewReplacer("\x07", "?", "\u202e", "?", "\ufffd", "?").Replace(u.String())); diff != "" {
		t.Error(diff)
	}
}
