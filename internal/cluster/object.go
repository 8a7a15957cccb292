package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/kinds"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Objects are policies as an API server would show them.
type Objects []capability.Object

// Filter says which objects are wanted. A field that is empty asks for nothing.
type Filter struct {
	// Noun is what [IsNoun] takes: the name of a kind, or one with an API group behind it. A noun alone means the kinds of all dialects.
	Noun            string
	Namespace, Mesh string
}

// ObjectsOf returns the policies of files that are wanted. Its error is about a kind that
// there is not, or a document that no API server could hold.
func ObjectsOf(files *lab.Files, wanted Filter) (Objects, error) {
	meant := meantBy(wanted.Noun)
	if len(meant) == 0 {
		return nil, fmt.Errorf("there are no objects of kind %q", wanted.Noun)
	}
	if slices.ContainsFunc(meant, func(k kind) bool { return k.router != nil }) {
		files.TakeRouting()
	}
	out := Objects{}
	for _, k := range meant {
		for _, c := range clustersOf(files) {
			objects, err := k.objects(c)
			if err != nil {
				return nil, err
			}
			out = append(out, objects...)
		}
	}
	return slices.DeleteFunc(out, func(o capability.Object) bool {
		return wanted.Namespace != "" && o.Namespace != wanted.Namespace || wanted.Mesh != "" && o.Mesh != wanted.Mesh
	}), nil
}

// Homonyms returns the policies outside of cases whose kind has the wanted name, but is of another API
// group than the wanted one.
func Homonyms(files *lab.Files, wanted Filter) kinds.Others {
	noun, _, _ := strings.Cut(wanted.Noun, ".")
	named, meant := meantBy(noun), meantBy(wanted.Noun)
	owns := func(all []kind, doc manifest.Document) bool {
		return slices.ContainsFunc(all, func(k kind) bool { return k.owns(doc) })
	}
	return slices.DeleteFunc(slices.Clone(kinds.Others(files.Policies)), func(doc manifest.Document) bool {
		return owns(meant, doc) || !owns(named, doc)
	})
}

// Err joins the errors of the objects that are not valid.
func (all Objects) Err() error {
	var errs []error
	for _, o := range all {
		errs = append(errs, o.Invalid)
	}
	return errors.Join(errs...)
}

// WriteText prints a table for each sort of objects: those of meshes, those with a status, and those
// that are shown as they were written. Without an object it prints nothing, because no kind says which
// columns there are.
func (all Objects) WriteText(w io.Writer, _ terminal.Paint) {
	var meshes, stated, written Objects
	for _, o := range all {
		switch {
		case o.Target != "":
			meshes = append(meshes, o)
		case o.APIVersion != "":
			written = append(written, o)
		default:
			stated = append(stated, o)
		}
	}
	for _, one := range []struct {
		objects Objects
		write   func(Objects, io.Writer)
	}{{meshes, Objects.writeMeshes}, {stated, Objects.writeStated}, {written, Objects.writeWritten}} {
		if len(one.objects) > 0 {
			one.write(one.objects, w)
		}
	}
}

// writeStated prints the table of objects with a status.
func (all Objects) writeStated(w io.Writer) {
	table := terminal.Table{{"NAMESPACE", "NAME", "KIND", "RULES", "ACCEPTED", "REASON"}}
	for _, o := range all {
		table = append(table, []string{o.Namespace, o.Name, o.Kind, fmt.Sprint(o.Rules), terminal.Printable(o.Accepted), terminal.Printable(o.Reason)})
	}
	table.Write(w, "")
}

// writeWritten prints the table of objects that are shown as they were written.
func (all Objects) writeWritten(w io.Writer) {
	table := terminal.Table{{"NAMESPACE", "NAME", "KIND", "APIVERSION", "REASON"}}
	for _, o := range all {
		table = append(table, []string{terminal.Printable(o.Namespace), terminal.Printable(o.Name), o.Kind, terminal.Printable(o.APIVersion), o.Reason})
	}
	table.Write(w, "")
}

// writeMeshes prints the table of objects that belong to meshes.
func (all Objects) writeMeshes(w io.Writer) {
	table := terminal.Table{{"MESH", "NAMESPACE", "NAME", "ROLE", "TARGET", "RULES", "POLICY"}}
	for _, o := range all {
		table = append(table, []string{
			terminal.Printable(o.Mesh), terminal.Printable(o.Namespace), terminal.Printable(o.Name), o.Role, terminal.Printable(o.Target), fmt.Sprint(o.Rules), cmp.Or(o.Policy, o.Reason),
		})
	}
	table.Write(w, "")
}

// MarshalJSON returns a List of the objects.
func (all Objects) MarshalJSON() ([]byte, error) {
	items := make([]json.RawMessage, len(all))
	for i, o := range all {
		items[i] = o.JSON
	}
	return json.Marshal(struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}{"v1", "List", items})
}

// WriteYAML prints the List of [Objects.MarshalJSON] as YAML.
func (all Objects) WriteYAML(w io.Writer) error {
	text := "apiVersion: v1\nkind: List\nitems:"
	if len(all) == 0 {
		text += " []"
	}
	for _, o := range all {
		// An object that is not valid may hold any text, which this printer quotes.
		docs, err := manifest.Parse("the result", o.JSON)
		if err != nil {
			return err
		}
		for _, doc := range docs {
			text += "\n  - " + strings.ReplaceAll(strings.TrimSpace(string(doc.YAML())), "\n", "\n    ")
		}
	}
	_, err := io.WriteString(w, text+"\n")
	return err
}
