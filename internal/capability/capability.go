// Package capability has what only some dialects can do, beside what
// [language.Dialect] demands of every one. Each capability is a small interface of the
// dialect value, or of its policies.
//
// It guarantees that a command reaches a capability without the name of a dialect:
// package internal/dialects finds the dialects that have it. It has no code of its own.
package capability

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Grower is a set of policies that can show their decision as a tree.
type Grower interface {
	// Tree returns the full decision tree of one inbound, or an error where the
	// policies of the inbound have none.
	Tree(in policy.Inbound) (Tree, error)
}

// Tree is a decision tree. Its text has one line for each node.
type Tree interface {
	fmt.Stringer
	// Prune returns the tree without the questions whose answer changes nothing.
	Prune() Tree
	// SVG returns the tree as a drawing that needs no other file. The title is any
	// text.
	SVG(title string) string
}

// Targeter is a set of policies that can say what each of them selects.
type Targeter interface {
	// Targets returns what the policies select, in their order. A policy has several
	// targets where its rules are about several ports.
	Targets() []Target
}

// Target is what a policy selects.
type Target struct {
	// Policy names the policy as Envoy does, Name is its own name, and Place its
	// "file:line".
	Policy, Name, Place string
	// Key is the same for two targets that select the same.
	Key string
	// Inert is true where the policy itself says that it enforces nothing.
	Inert bool
	// Linked is true where other documents of the set decide too about what the target
	// selects, so that a change of any of them is a change here.
	Linked bool
	// Conditions is true where the document decides about no request, and about what others know of it: whether a caller
	// has a name, or which tokens count.
	Conditions bool
	// Sole is true where one target alone decides about an inbound. Which of two does, such as the
	// older one, no file says.
	Sole bool
	// Elsewhere says why nothing that the set knows can be selected, such as a missing document; ""
	// where that is not so. An inert one decides nothing by itself.
	Elsewhere string
	// OutsideText is the text of the [OutsideDocument] that it decides about, and of nothing else; "" for none.
	OutsideText string
	// IsExcluded is true where the whole of the policy is parts that no proof is about, see [Excluder].
	IsExcluded bool
	// Miss says why the target does not select an inbound, nil where it does.
	Miss func(in policy.Inbound) Reason
	// Unstated says what the target asks for that a control plane computes and that the inbound does not state, so that
	// nobody knows whether it is selected; "" where that is known. It may be nil.
	Unstated func(in policy.Inbound) string
	// Refuses says why nothing can be asked on an inbound that the target selects, such as that it says another protocol; "" where
	// something can. It may be nil.
	Refuses func(in policy.Inbound) string
	// Fit changes as little of an inbound as makes the target select it. If Miss has a
	// reason for the result too, the policy contradicts itself, and selects nothing.
	Fit func(in policy.Inbound) policy.Inbound
	// Vary returns an inbound with each other value that the target tells apart, one value
	// changed in each: where it asks for what every inbound has, such as a port, also a value
	// that it does not ask for. It is nil for a target that asks only for a value of what an
	// inbound may lack.
	Vary func(in policy.Inbound) []policy.Inbound
	// Base is the same for the targets of one policy that differ in their port alone, see [Target.OnPorts]; "" for others.
	Base string
	// VaryPort is Vary for the port alone: what Vary changes beside it is the same for all targets of one Base. It may be nil.
	VaryPort func(in policy.Inbound) []policy.Inbound
}

// PeerNamer is a set of policies that names callers by what their workloads are, such as labels.
type PeerNamer interface {
	// Peers returns what the policies ask of workloads, in order: of those that call, and of
	// those that they select, which may call each other and are inert. A target looks at the
	// workload of an inbound, and at nothing else.
	Peers() []Target
}

// Truster is a set of policies that may let callers in by a name that no certificate proves. In the
// lab a certificate proves each name, so that no request shows the difference.
type Truster interface {
	// Unproven returns a text for each part of a rule that does so, the same in whatever rule the part
	// stands, and whether another rule demands the proof.
	Unproven() (parts []string, demanded bool)
}

// Stranger is a set of policies that may let in what the lab does not play, such as callers of other
// meshes, or by an order that no file states.
type Stranger interface {
	// Strangers returns a text for each caller, packet or order, with its policy.
	Strangers() []string
}

// Kindred is a set of policies that may let in what the lab does not play, and what only policies of
// the same dialect speak of, such as other protocols than TCP.
type Kindred interface {
	// Unplayed returns a text for each caller or packet.
	Unplayed() []string
	// Broader returns what the policies let in and other ones of the dialect shut out, as far as the lab does not
	// play it: a rule without ports is about every protocol, and one of the whole cluster is about its nodes too.
	Broader(than Kindred) []string
	// Closed returns a text for what lets in nothing that no rule is about, in any protocol.
	Closed() []string
}

// Excluder is a set of policies with parts that no proof is about, such as rules of the calls of a
// workload.
type Excluder interface {
	// Excluded returns the name of each part, with a text of each thing that it says. What all parts say adds up: two sets of policies
	// say the same where their texts are the same, whichever part has them.
	Excluded() map[string][]string
	// FirstExcluded returns the names of the parts that only shut out, if the other set was in force before: none of its parts was
	// about the same.
	FirstExcluded(before Excluder) []string
}

// Speaker is a set of policies of which some say what an inbound speaks, so that a proxy closes connections of
// another protocol.
type Speaker interface {
	// Speaks returns the names of what takes HTTP alone, and of what takes each protocol. A key is the same where
	// the same inbounds are selected.
	Speaks() (http, each map[string]string)
}

// Stater is a set of policies that may state of themselves what a control plane says otherwise, such as a role.
type Stater interface {
	// Overwritten returns a text for each policy that does so, with its place. What the policies decide
	// follows from what they state.
	Overwritten() []string
}

// Departer is a set of policies by which released control planes may let in callers whom the policies deny.
type Departer interface {
	// Departures names policies of the inbound by which they do so, each with its place, one at least where there are any.
	Departures(in policy.Inbound) []string
}

// Drafter is a dialect whose policies may have parts that releases of the mesh, or older ones, take otherwise than is shown here.
type Drafter interface {
	// Drafts returns a text for each kind of such parts, with its first place, and what those releases make of it. The
	// documents are those of the dialect. Of documents that it refuses it says nothing.
	Drafts(docs []manifest.Document) []string
}

// Releaser is a dialect with parts that no release of its mesh has.
type Releaser interface {
	// Released returns what a release makes of each policy with a part that no policy of before has. The documents are those of
	// the dialect. Of documents that it refuses it says nothing.
	Released(before, docs []manifest.Document) []Released
}

// Released is what a release of a mesh makes of a policy: Left, or nothing of it where that is refused. Why names the part that the release
// does not have.
type Released struct {
	Document manifest.Document
	Why      string
	Left     []manifest.Document
	Refused  bool
}

// Delegator is a set of policies that leave decisions to authorizers. The lab has one of its own in
// the place of each.
type Delegator interface {
	// Authorizers returns a text for each authorizer that is asked, with how it is asked.
	Authorizers() []string
}

// Referrer is a set of policies that refer to what other folders may have.
type Referrer interface {
	// References returns what the policies of an inbound refer to and the set does not have.
	References(in policy.Inbound) References
	// WithoutUnknown returns the policies without those that ask an authorizer which nothing describes: a request needs its
	// consent beside theirs.
	WithoutUnknown() language.Policies
}

// References are what the policies of an inbound refer to and their set does not have. What such policies let in is known where
// both are known.
type References struct {
	// Dangling has a text for each reference, with its policy and what to do.
	Dangling []string
	// Policies has a text for each policy that selects the inbound, in order: the same where the policy says the same.
	Policies []string
	// Unknown has those texts of the policies that ask an authorizer which nothing describes.
	Unknown []string
}

// Forwarder is a set of policies whose mesh takes the address of a caller from x-forwarded-for.
type Forwarder interface {
	// TrustedHops returns how many entries of the header its sidecars trust, the last one first. It is 0 where no policy asks for
	// such an address.
	TrustedHops() int
}

// Locator is a set of policies that can say which line of them decides a request.
type Locator interface {
	// Locate selects the policies of an inbound, and returns a function that says "file:line"
	// of what decides a request, and of what decides in the shadow. It is "" where no line
	// does, because no policy speaks of the request.
	Locate(in policy.Inbound) func(r policy.Request) (decides, shadow string)
}

// Normalizer is a set of policies whose mesh says how listeners normalize paths.
type Normalizer interface {
	// Normalization returns what the listeners do, and whether the options of the policies
	// state it: otherwise it is the default of the mesh, which a case may replace.
	Normalization() (n policy.PathNormalization, stated bool)
}

// Aliased is a set of policies whose mesh may have several names for its trust domain.
type Aliased interface {
	// TrustDomains returns the trust domain of the mesh and the aliases of it, as the options of the policies state them. The CAs of the
	// mesh may give names of each of them.
	TrustDomains() []string
}

// NormalizedLinter is a set of policies whose warnings follow from how listeners normalize paths.
type NormalizedLinter interface {
	// LintFor is Lint where listeners normalize paths in this way. The zero value says nothing.
	LintFor(n policy.PathNormalization, inbounds []policy.Inbound) []policy.Warning
}

// Moder is a set of policies that say which callers an inbound takes.
type Moder interface {
	// ModeBy returns the policy whose mode an inbound has, with its "file:line"; "" where none states one.
	ModeBy(in policy.Inbound) string
}

// MeshTruster is a set of policies of which some take the name of the mesh for the trust domain of callers.
type MeshTruster interface {
	// TrustsMesh reports whether such a policy is of the mesh of an inbound.
	TrustsMesh(in policy.Inbound) bool
}

// Displacer is a set of policies of which one may take the place of another with the same target.
type Displacer interface {
	// Displaced returns the policies that select the inbound and have no effect there, by the names of their
	// targets: see [Target].
	Displaced(in policy.Inbound) []string
}

// Namer is a set of policies that have a plain name beside the one under which Envoy reports
// them.
type Namer interface {
	// FullNames returns the names under which Envoy reports the policies of a plain name.
	FullNames(plain string) []string
}

// FullNamesOf returns the full names of the policies of a plain name, as a [Namer] does.
func FullNamesOf[P any](all []P, plain string, names func(P) (plain string, full []string)) (out []string) {
	for _, p := range all {
		if name, full := names(p); name == plain {
			out = append(out, full...)
		}
	}
	return out
}

// Converter is a dialect with several designs, which can rewrite policies of one
// design for another.
type Converter interface {
	// Designs is the flag that chooses the design to rewrite for.
	Designs() Flag
	// Convert rewrites policies for a design, which is a text of the flag. A document
	// of another dialect is an error. The trust domain is that of the mesh, which policies name
	// by another word, such as Istio's cluster.local. It is zero where nobody stated it; one that the
	// design has no use for is an error.
	Convert(docs []manifest.Document, design string, mesh spiffeid.TrustDomain) (Conversion, error)
}

// Conversion is a set of policies, rewritten for another design.
type Conversion struct {
	// YAML has one document for each policy, in order, without comments.
	YAML []byte
	// Notes say what differs by design, one line each.
	Notes []string
}

// Inspector is a dialect that answers over HTTP what policies do to workloads.
type Inspector interface {
	// Inspect reads documents of policies and Dataplanes. It refuses documents of other
	// kinds than those and what [Inspector.Reads] tells.
	Inspect(docs []manifest.Document, opts language.Options) (http.Handler, error)
	// Reads reports whether Inspect takes a document that is neither a policy of the dialect
	// nor a Dataplane.
	Reads(doc manifest.Document) bool
}

// Lister is a dialect whose policies are objects of an API server. Its methods
// leave out documents of other dialects.
type Lister interface {
	// Nouns are the names of the kinds that a user may write, in lower case.
	Nouns() []string
	// Objects returns each policy as an API server would show it, valid or not. The
	// status follows from the pods; nil means that they are not known. Its errors are
	// about documents that no API server could hold.
	Objects(docs []manifest.Document, pods []policy.Workload) ([]Object, error)
}

// RoutingLister is a dialect whose routes, timeouts and services are objects of an API server.
type RoutingLister interface {
	Router
	// RoutingKinds are the documents that OwnsRouting tells.
	RoutingKinds() []manifest.Head
	// RoutingObject returns a document of one of the kinds as an API server would show it, valid or not.
	RoutingObject(doc manifest.Document) (Object, error)
}

// Sharer is a dialect that owns some documents of kinds that it shares with other tools, beside those of its
// own kinds.
type Sharer interface {
	// SharedKinds are these kinds.
	SharedKinds() []manifest.Head
}

// Abbreviator is a dialect whose kinds have short names in a cluster.
type Abbreviator interface {
	// Abbreviations are the short names of kinds, in lower case, as the definitions of the kinds state them.
	Abbreviations() map[string][]string
}

// Inheritor is a dialect that can say which of its policies a pod is subject to, as its own
// tools do.
type Inheritor interface {
	// Inherited returns the policies that select the pod, in the order of their names.
	Inherited(docs []manifest.Document, pod policy.Workload) ([]Inherited, error)
}

// Object is a policy as an API server would show it.
type Object struct {
	Kind, Namespace, Name string
	// APIVersion is set where the object is shown as it was written; its dialect is no [Lister].
	APIVersion string
	// Policy names the policy as Envoy does, Mesh is its mesh, Role its role, and Target what
	// it selects. They are empty for a dialect without meshes.
	Policy, Mesh, Role, Target string
	// Rules is the number of rules; 0 where they are no list.
	Rules int
	// Accepted and Reason are those of the status, empty where there is none.
	Accepted, Reason string
	// Invalid is the [*manifest.Error] for which the policy is refused, nil where it
	// is valid.
	Invalid error
	// JSON is the whole object.
	JSON json.RawMessage
}

// Inherited is a policy that selects a pod, and the target that does.
type Inherited struct {
	// Type is the kind of the policy, and Name its name.
	Type, Name string
	// TargetKind is the kind of the target, and Target the expression that selects
	// the pod, as in "Selector={app: backend}".
	TargetKind, Target string
}

// Flag is an option as a flag of a command.
type Flag struct {
	// Key is the key of the option in [language.Options].
	Key string
	// Name is the name of the flag.
	Name string
	// Values are the texts to choose from, the default first; nil means any text, and
	// the empty one by default.
	Values []string
	// Usage is a phrase for the help of a command.
	Usage string
	// UsageOfSet is Usage where two sets of policies are compared and may differ in
	// the option; %s is the name of one set. It is empty where they may not differ.
	UsageOfSet string
	// Value returns what stands behind the key in YAML for a text of the flag. Its
	// error lists the known texts.
	Value func(text string) (string, error)
}

// Flagger is a dialect whose options are flags of commands.
type Flagger interface {
	Flags() []Flag
}
