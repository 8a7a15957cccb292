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
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Objects are policies as an API server would show them.
type Objects []capability.Object

// Filter says which objects are wanted. A field that is empty asks for nothing.
type Filter struct {
	// Noun is one of [Nouns].
	Noun            string
	Namespace, Mesh string
}

// ObjectsOf returns the policies of files that are wanted. Its error is about a kind that
// there is not, or a document that no API server could hold.
func ObjectsOf(files *lab.Files, wanted Filter) (Objects, error) {
	lister := listerOf(wanted.Noun)
	if lister == nil {
		return nil, fmt.Errorf("there are no objects of kind %q", wanted.Noun)
	}
	out := Objects{}
	for _, c := range clustersOf(files) {
		objects, err := lister.Objects(c.policies, c.pods)
		if err != nil {
			return nil, err
		}
		out = append(out, objects...)
	}
	return slices.DeleteFunc(out, func(o capability.Object) bool {
		return wanted.Namespace != "" && o.Namespace != wanted.Namespace || wanted.Mesh != "" && o.Mesh != wanted.Mesh
	}), nil
}

// Homonyms returns the policies outside of cases whose kind has the wanted name, but is of
// another dialect, such as AuthorizationPolicy of Istio.
func Homonyms(files *lab.Files, wanted Filter) kinds.Others {
	lister := listerOf(wanted.Noun)
	owner, ok := lister.(language.Dialect)
	return slices.DeleteFunc(slices.Clone(kinds.Others(files.Policies)), func(doc manifest.Document) bool {
		return !ok || owner.Owns(doc) || !slices.Contains(lister.Nouns(), strings.ToLower(doc.Type().Kind))
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

// WriteText prints a table. Without an object it prints nothing, because no kind says which
// columns there are.
func (all Objects) WriteText(w io.Writer, _ terminal.Paint) {
	if slices.ContainsFunc(all, func(o capability.Object) bool { return o.Target != "" }) {
		all.writeMeshes(w)
		return
	}
	if len(all) == 0 {
		return
	}
	table := terminal.Table{{"NAMESPACE", "NAME", "KIND", "RULES", "ACCEPTED", "REASON"}}
	for _, o := range all {
		table = append(table, []string{o.Namespace, o.Name, o.Kind, fmt.Sprint(o.Rules), terminal.Printable(o.Accepted), terminal.Printable(o.Reason)})
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
