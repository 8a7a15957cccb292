// Package kuma is the dialect of Kuma: MeshTrafficPermission in its three designs
// with SPIFFE IDs, and the legacy form with from and tags.
//
// It guarantees that the program and the second opinion decide alike: the two
// implementations share nothing but the parsed text. It reports a policy without an
// effect. A refusal names file, line and field.
//
// It does not judge plaintext callers: a permissive inbound lets them pass. It
// knows nothing of Envoy.
package kuma

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/conversion"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/inspect"
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/listing"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/outbound"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/policy/kuma/internal/tree"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Dialect reads MeshTrafficPermission. Its options are kumaOption, shadowForm,
// systemNamespace and legacyCompiler. It is a [capability.Converter], a
// [capability.Inspector] and a [capability.Lister], and its policies have a decision tree.
var Dialect language.Dialect = dialect{}

type dialect struct{}

func (dialect) Name() string { return "kuma" }

// Layer implements [capability.Layered].
func (dialect) Layer() capability.Layer { return capability.Layer{Closed: true} }

func (dialect) Kinds() []manifest.Head { return permission.Kinds }

func (dialect) Owns(doc manifest.Document) bool { return permission.Owns(doc) }

// SpecFields implements [capability.Specified].
func (dialect) SpecFields() []string {
	return slices.Concat(permission.SpecFields(), outbound.SpecFields())
}

func (dialect) NewOptions() any { return new(permission.Options) }

func (dialect) Parse(docs []manifest.Document, opts language.Options) (language.Policies, error) {
	own, err := readOptions(opts)
	if err != nil {
		return nil, err
	}
	all, err := permission.ParseAll(docs)
	if err == nil {
		err = permission.CheckForms(all, own)
	}
	if err != nil {
		return nil, err
	}
	return policies{all, selection.NewIndex(all), own}, nil
}

func readOptions(opts language.Options) (own permission.Options, err error) {
	err = opts.Document.DecodeKnown(&own)
	return own, err
}

// TrustsMesh implements [capability.MeshTruster]: the legacy form knows callers by the certificates that
// the CA of a mesh issues, whose trust domain is the name of the mesh.
func (p policies) TrustsMesh(in policy.Inbound) bool {
	mesh := cmp.Or(in.Workload.Mesh, resource.DefaultMesh)
	return slices.ContainsFunc(p.all, func(of permission.Policy) bool { return len(of.From) > 0 && of.ID.Mesh == mesh })
}

// Inspect implements [capability.Inspector].
func (dialect) Inspect(docs []manifest.Document, opts language.Options) (http.Handler, error) {
	own, err := readOptions(opts)
	if err != nil {
		return nil, err
	}
	resources, err := inspect.Parse(docs, own)
	if err != nil {
		return nil, err
	}
	return resources.Handler(), nil
}

// Reads implements [capability.Inspector]: routes, timeouts and services.
func (dialect) Reads(doc manifest.Document) bool { return outbound.Owns(doc) }

// Nouns implements [capability.Lister].
func (dialect) Nouns() []string { return listing.Nouns }

// Objects implements [capability.Lister]. Kuma's policies have no status, so that the pods do
// not count.
func (dialect) Objects(docs []manifest.Document, _ []policy.Workload) ([]capability.Object, error) {
	return listing.Objects(slices.DeleteFunc(slices.Clone(docs), func(doc manifest.Document) bool { return !permission.Owns(doc) }))
}

// Drafts implements [capability.Drafter].
func (dialect) Drafts(docs []manifest.Document) []string {
	var opts permission.Options
	own := slices.DeleteFunc(slices.Clone(docs), func(doc manifest.Document) bool { return !permission.Owns(doc) && !outbound.Owns(doc) })
	out := append(outbound.InitialTimeouts(docs, opts.ControlPlaneNamespace()), lint.NewerTargets(own)...)
	all, err := permission.ParseAll(slices.DeleteFunc(slices.Clone(docs), func(doc manifest.Document) bool { return !permission.Owns(doc) }))
	if err != nil {
		return out
	}
	return slices.Concat(permission.Drafts(all), lint.OlderOrder(all, opts), out)
}

// Released implements [capability.Releaser].
func (dialect) Released(before, docs []manifest.Document) (out []capability.Released) {
	was, errOld := permission.ParseAll(before)
	all, errNew := permission.ParseAll(docs)
	if errOld != nil || errNew != nil {
		return nil
	}
	for _, r := range permission.Releases(was, all) {
		out = append(out, capability.Released{Document: r.Policy.Doc, Why: r.Why, Left: r.Left, Refused: r.Refused})
	}
	return out
}

// istio is the design of Istio's AuthorizationPolicy.
const istio = "istio"

// Designs implements [capability.Converter].
func (dialect) Designs() capability.Flag {
	return capability.Flag{Name: "to", Values: append(slices.Clone(optionFlag.Values), istio), Usage: "design to rewrite the policies for", Value: func(text string) (string, error) {
		if text == istio {
			return text, nil
		}
		return optionFlag.Value(text)
	}}
}

// Convert implements [capability.Converter].
func (dialect) Convert(docs []manifest.Document, design string, mesh spiffeid.TrustDomain) (capability.Conversion, error) {
	var to permission.Option
	var errs []error
	if !mesh.IsZero() {
		errs = append(errs, fmt.Errorf("--trust-domain %s: the SPIFFE IDs of a MeshTrafficPermission have their trust domains: leave the flag out", mesh))
	}
	if design != istio {
		errs = append(errs, to.UnmarshalText([]byte(design)))
	}
	for _, doc := range docs {
		if !permission.Owns(doc) {
			errs = append(errs, doc.Errorf("", "this is no MeshTrafficPermission: only policies are converted, as type: or with apiVersion: kuma.io/v1alpha1"))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return capability.Conversion{}, err
	}
	all, err := permission.ParseAll(docs)
	if err != nil {
		return capability.Conversion{}, err
	}
	if design == istio {
		return conversion.ToIstio(all)
	}
	converted, err := conversion.Convert(all, to)
	for i, note := range converted.Notes {
		converted.Notes[i] = to.String() + ": " + note
	}
	return capability.Conversion(converted), err
}

// policies implements [language.Policies] and [capability.Grower].
type policies struct {
	all     []permission.Policy
	index   *selection.Index
	options permission.Options
}

// selected returns the policies that apply. It asks the candidates of the index alone, [policies.Ignored] asks all.
func (p policies) selected(in policy.Inbound) selection.Selection {
	return selection.Select(p.index.Candidates(in), in, p.options)
}

func (p policies) Ignored(in policy.Inbound) []string {
	var out []string
	for _, ignored := range selection.Select(p.all, in, p.options).Ignored {
		out = append(out, fmt.Sprintf("%s: %s", ignored.Policy, ignored.Reason))
	}
	return out
}

func (p policies) Check(in policy.Inbound) error {
	return lowering.Check(p.selected(in), in, p.options)
}

func (p policies) Program(in policy.Inbound) language.Program {
	selected := p.selected(in)
	var out language.Program
	out.Program = lowering.Lower(selected, in, p.options)
	out.Warnings = append(lint.BlindSpots(selected.Policies, in), lowering.Warn(selected, in, p.options)...)
	return out
}

func (p policies) Evaluate(in policy.Inbound) func(policy.Request) policy.Decision {
	return evaluation.ForInbound(p.all, in, p.options)
}

// Locate implements [capability.Locator].
func (p policies) Locate(in policy.Inbound) func(policy.Request) (decides, shadow string) {
	return evaluation.Locate(p.all, in, p.options)
}

// Overwritten implements [capability.Stater]: the role is the one that the label states.
func (p policies) Overwritten() []string { return lint.Overwritten(p.all, p.options) }

// Departures implements [capability.Departer].
func (p policies) Departures(in policy.Inbound) []string {
	lost, ok := lowering.LostDeny(p.selected(in))
	if !ok {
		return nil
	}
	return []string{lost.Place + ": " + lost.Policy + ": " + lost.Message}
}

// FullNames implements [capability.Namer]. The plain name is the display name.
func (p policies) FullNames(plain string) []string {
	return capability.FullNamesOf(p.all, plain, func(one permission.Policy) (string, []string) { return one.ID.Name, []string{one.Origin} })
}

func (p policies) Lint(inbounds []policy.Inbound) []policy.Warning {
	return lint.Lint(p.all, inbounds, p.options)
}

// Targets implements [capability.Targeter].
func (p policies) Targets() []capability.Target { return selection.Targets(p.all, p.options) }

// Notes says what differs by design in another option than the accepted one, and
// explains shadow denials of requests that are plainly allowed.
func (p policies) Notes(observed []policy.Decision) []string {
	var notes []string
	if option := p.options.Option; option != permission.Option1 {
		note := fmt.Sprintf("%s: %s", option, option.Attribution())
		if option == permission.Option3 && slices.ContainsFunc(observed, shadowAllows) {
			note += "; its shadow allows what is plainly allowed, under any shadowForm"
		}
		notes = append(notes, note)
	}
	if p.options.ShadowForm != permission.Accepted {
		return notes
	}
	plain := 0
	for _, d := range observed {
		if d.Effect == policy.Allow && d.Shadowed && d.Shadow == (policy.Verdict{Origin: "default"}) {
			plain++
		}
	}
	if plain > 0 {
		notes = append(notes, fmt.Sprintf("shadow_denied counts %d of the requests that are plainly allowed: the accepted form of the shadow has no allow list and ends in deny by default; read the shadow's policy of each request instead, in Kuma up to 2.14 in the access log (shadow_effective_policy_id), or set options: {shadowForm: precise} for a compiler that has this form", plain))
	}
	return notes
}

func shadowAllows(d policy.Decision) bool { return d.Shadowed && d.Shadow.Effect == policy.Allow }

// Tree implements [capability.Grower].
func (p policies) Tree(in policy.Inbound) (capability.Tree, error) {
	root, err := lowering.Tree(p.selected(in), in)
	if err != nil {
		return nil, err
	}
	return decisionTree{root}, nil
}

// decisionTree implements [capability.Tree].
type decisionTree struct{ *tree.Node }

func (t decisionTree) Prune() capability.Tree { return decisionTree{t.Node.Prune()} }

var optionFlag = capability.Flag{
	Key: "kumaOption", Name: "kuma-option", Values: []string{"option1", "option2", "option3"},
	Usage: "design of MeshTrafficPermission that the policies are written for", UsageOfSet: "design that %s is written for",
	// A case file has the number alone.
	Value: func(text string) (string, error) {
		var o permission.Option
		err := o.UnmarshalText([]byte(text))
		return strconv.Itoa(int(o) + 1), err
	},
}

// Flags implements [capability.Flagger].
func (dialect) Flags() []capability.Flag {
	return []capability.Flag{
		optionFlag,
		{
			Key: "shadowForm", Name: "shadow-form", Values: []string{"accepted", "precise"}, Usage: "shape of the shadow: without an allow list, as in the design (accepted), or with one (precise)",
			Value: func(text string) (string, error) { return known(text, new(permission.ShadowForm)) },
		},
		{
			Key: "legacyCompiler", Name: "legacy-compiler", Values: []string{"compact", "full"}, Usage: "compiler of policies with from: the last item that matches decides (compact), or all combinations of tags are made (full)",
			Value: func(text string) (string, error) { return known(text, new(legacy.Compiler)) },
		},
		{
			Key: "kumaRoutes", Name: "kuma-routes", Values: []string{"seed", "released"}, Usage: "what the limits of a route come from: the design says it (seed), or Kuma 2.14 does it (released)",
			Value: func(text string) (string, error) { return known(text, new(outbound.Design)) },
		},
		{
			Key: "systemNamespace", Name: "system-namespace", Usage: "namespace of the control plane, kuma-system where it is empty",
			Value: func(text string) (string, error) { return strconv.Quote(text), nil },
		},
	}
}

// known returns the text of a value that reads itself.
func known(text string, value encoding.TextUnmarshaler) (string, error) {
	return text, value.UnmarshalText([]byte(text))
}
