// Package dialect finds out which language a policy is written in and hands it
// to the package of that language.
//
// It guarantees that a document is never passed over: one that no dialect owns
// is an error, and that policies of two dialects are never mixed. It adds no
// meaning of its own.
package dialect

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/meshproof/meshproof/internal/tree"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/gateway"
	"github.com/meshproof/meshproof/policy/kuma"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Options are what the policies themselves do not say, for each dialect. The
// zero value holds the defaults.
type Options struct {
	Kuma    kuma.Options
	Gateway gateway.Options
}

// Set is a set of parsed and validated policies of one dialect. The zero value is
// the empty set, to which the answer is Kuma's: nobody gets in.
type Set struct {
	kuma []kuma.Policy
	// gateway is nil where the set is Kuma's.
	gateway []gateway.Policy
	options Options
}

// Parse reads the documents. It returns all errors joined, one line each. Policies
// of two dialects are refused, for nothing defines what they mean together.
func Parse(docs []manifest.Document, opts Options) (Set, error) {
	var ofKuma, ofGateway []manifest.Document
	var errs []error
	for _, doc := range docs {
		switch {
		case kuma.Owns(doc):
			ofKuma = append(ofKuma, doc)
		case gateway.Owns(doc):
			ofGateway = append(ofGateway, doc)
		default:
			errs = append(errs, unowned(doc))
		}
	}
	if len(ofKuma) > 0 && len(ofGateway) > 0 {
		errs = append(errs, mixed(ofKuma[0], ofGateway[0]))
	}
	s := Set{options: opts}
	var err error
	if s.gateway, err = parseGateway(ofGateway); err != nil {
		errs = append(errs, err)
	}
	if s.kuma, err = kuma.ParseAll(ofKuma); err == nil {
		err = kuma.CheckForms(s.kuma, opts.Kuma)
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		return Set{}, err
	}
	return s, nil
}

func mixed(a, b manifest.Document) error {
	return b.Errorf("", "%s stands beside %s (%s): what policies of two dialects mean together is not defined, use one of them",
		kind(b), kind(a), a.Place(""))
}

func kind(doc manifest.Document) string {
	head := doc.Type()
	return cmp.Or(head.Type, head.Kind)
}

func unowned(doc manifest.Document) error {
	const known = "the known kinds are MeshTrafficPermission, as type: or with apiVersion: kuma.io/v1alpha1, " +
		"XAuthorizationPolicy of gateway.networking.x-k8s.io and AuthorizationPolicy of gateway.networking.k8s.io"
	switch head := doc.Type(); {
	case head.Type != "":
		return doc.Errorf("type", "kind %q is unknown: %s", head.Type, known)
	case head.Kind != "":
		return doc.Errorf("kind", "kind %q of apiVersion %q is unknown: %s", head.Kind, head.APIVersion, known)
	default:
		return doc.Errorf("", "the policy has neither type nor apiVersion and kind: %s", known)
	}
}

// Program is the decision program of one inbound, with what lowering warned
// about and why policies were left out.
type Program struct {
	policy.Program
	Warnings []policy.Warning
	// Ignored has a line for each policy that does not apply.
	Ignored []string
	// JudgesPlaintext says that the program is asked on a permissive inbound about
	// plaintext, too, as a caller without a name. Otherwise plaintext passes there.
	JudgesPlaintext bool
}

// Check refuses what can only be refused for a given inbound: policies that make
// no program there. [Set.Program] then is one that lets nobody in.
func (s Set) Check(in policy.Inbound) error {
	if s.gateway != nil {
		return nil
	}
	return kuma.Select(s.kuma, in, s.options.Kuma).Check(in, s.options.Kuma)
}

// Program selects the policies of the inbound and lowers them.
func (s Set) Program(in policy.Inbound) Program {
	if s.gateway != nil {
		return s.gatewayProgram(in)
	}
	selection := kuma.Select(s.kuma, in, s.options.Kuma)
	var p Program
	p.Program, p.Warnings = kuma.Lower(selection, in, s.options.Kuma)
	for _, ignored := range selection.Ignored {
		p.Ignored = append(p.Ignored, fmt.Sprintf("%s: %s", ignored.Policy.KRI(), ignored.Reason))
	}
	return p
}

// Tree returns the full decision tree of one inbound, or an error where its
// policies have none.
func (s Set) Tree(in policy.Inbound) (*tree.Node, error) {
	if s.gateway != nil {
		return nil, errors.New("policy/dialect: an AuthorizationPolicy is lowered to named rules, which have no decision tree")
	}
	return kuma.Tree(kuma.Select(s.kuma, in, s.options.Kuma), in)
}

// Evaluate judges a request straight from the text of the policies; it is a
// second opinion on [policy.Decide].
func (s Set) Evaluate(in policy.Inbound, r policy.Request) policy.Decision {
	if s.gateway != nil {
		return gateway.Evaluate(s.gateway, in, s.options.Gateway, r)
	}
	return kuma.Evaluate(s.kuma, in, s.options.Kuma, r)
}

// Lint warns of policies that are legal but may not be meant, given all inbounds
// there are.
func (s Set) Lint(inbounds []policy.Inbound) []policy.Warning {
	if s.gateway != nil {
		return gateway.Lint(s.gateway, inbounds)
	}
	return kuma.Lint(s.kuma, inbounds, s.options.Kuma)
}
