package networkpolicy

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/meshproof/meshproof/internal/metadata"
)

// saysOfCalls reports whether a spec has rules about calls of the endpoints that it selects.
func (s Spec) saysOfCalls() bool { return len(s.Egress)+len(s.EgressDeny) > 0 }

// callTexts returns a text of each rule of a spec about calls, with all that the rule depends on but the namespace of the policy. The rules of
// all policies that select an endpoint add up, in whatever order, so that neither the name of a policy nor the place of a rule matters.
func callTexts(of Spec) (out []string) {
	for _, rule := range of.Egress {
		out = append(out, written(of.EndpointSelector, of.NodeSelector, of.EnableDefaultDeny.Egress, "allow", rule))
	}
	for _, rule := range of.EgressDeny {
		out = append(out, written(of.EndpointSelector, of.NodeSelector, of.EnableDefaultDeny.Egress, "deny", rule))
	}
	return out
}

// Excluded returns the specs with rules about calls of the endpoints, each with a text of each rule.
func Excluded(ps []Policy) map[string][]string {
	out := map[string][]string{}
	for _, p := range ps {
		for _, s := range p.specs {
			name := nameOfCalls(s.field, p)
			for _, text := range s.egress {
				out[name] = append(out[name], written(p.resource.Metadata.Namespace, text))
			}
		}
	}
	return out
}

// FirstCalls returns the names of the specs with rules about calls of endpoints that only shut out: before them no spec had such rules about
// any of these endpoints, so that all their calls were let out.
func FirstCalls(was, is []Policy, before Options) (out []string) {
	if before.PolicyEnforcement == enforceAlways {
		return nil
	}
	var ruled []subject
	for _, p := range was {
		for _, s := range p.resource.all() {
			if s.saysOfCalls() {
				ruled = append(ruled, p.subjectOf(s))
			}
		}
	}
	for _, p := range is {
		for i, s := range p.resource.all() {
			of := p.subjectOf(s)
			if s.saysOfCalls() && !slices.ContainsFunc(ruled, func(old subject) bool { return !old.isApart(of) }) {
				out = append(out, nameOfCalls(p.resource.fieldOf(i), p))
			}
		}
	}
	return out
}

// nameOfCalls names the rules of a spec about calls.
func nameOfCalls(field string, of Policy) string { return fmt.Sprintf("%s.egress of %s", field, of) }

// readCalls refuses egress that Cilium refuses, and returns what it has to merge.
func (r *reader) readCalls(field string, from []Egress, where direction) (calls []call) {
	for i, out := range from {
		at := item(field, i)
		if where.deny {
			r.refuseFields(at, "a deny rule has no such field", "toFQDNs", "authentication")
		}
		to := r.readPeers(at, toPeers, lists{out.ToEndpoints, out.ToCIDR, out.ToCIDRSet, out.ToEntities})
		others := len(out.ToServices) + len(out.ToFQDNs) + len(out.ToGroups)
		to.everyone = to.everyone && others == 0 && len(out.ToPorts)+len(out.ICMPs) > 0
		ways := len(to.ways)
		for _, way := range []struct {
			name  string
			items int
		}{{"toServices", len(out.ToServices)}, {"toFQDNs", len(out.ToFQDNs)}, {"toGroups", len(out.ToGroups)}} {
			if ways += min(way.items, 1); way.items > 0 && ways > 1 {
				r.refuse(at+"."+way.name, "a rule names its peers in one way: write a rule for each of them")
			}
		}
		if len(out.ToNodes) > 0 {
			r.refuse(at+".toNodes", "Cilium refuses the policy unless its agent has the flag enable-node-selector-labels, which no option says")
		}
		for k, s := range out.ToServices {
			if of := s.K8sServiceSelector; of != nil && of.Selector == nil {
				r.refuse(item(at+".toServices", k)+".k8sServiceSelector.selector", "the selector is missing")
			}
		}
		r.checkNames(at+".toFQDNs", out.ToFQDNs)
		r.readPorts(at+".toPorts", out.ToPorts, where)
		r.readAuthentication(at+".authentication", out.Authentication, where)
		r.checkICMP(at, out.ICMPs, out.ToPorts)
		calls = append(calls, callsOf(at, out, to)...)
	}
	return calls
}

// readGroup refuses what Cilium refuses of a reference to groups of blocks, and returns a text of it. Which blocks they have is no part
// of what is let in. Cilium merges calls by the reference, and not by the blocks.
func (r *reader) readGroup(field string, from CIDRRule) string {
	if r.has(field+".cidr") || from.CIDRGroupRef != nil && from.CIDRGroupSelector != nil {
		r.refuse(field, "write one of cidr, cidrGroupRef and cidrGroupSelector")
	}
	if ref := from.CIDRGroupRef; ref != nil {
		if problem := metadata.NameProblem(*ref); problem != "" {
			r.refuse(field+".cidrGroupRef", "%s", problem)
		}
	}
	if from.CIDRGroupSelector != nil {
		r.refuse(field+".cidrGroupSelector", "meshproof does not read a CiliumCIDRGroup by its labels: name it by cidrGroupRef")
	}
	for i, text := range from.Except {
		r.readBlock(item(field+".except", i), text)
	}
	return "the group " + written(from.CIDRGroupRef, from.Except)
}

// has reports whether the field is written, also without a value.
func (r *reader) has(field string) bool {
	_, written := r.doc.Lookup(field)
	return written
}

// refuseFields refuses fields that are written at all.
func (r *reader) refuseFields(field, reason string, names ...string) {
	for _, name := range names {
		if r.has(field + "." + name) {
			r.refuse(field+"."+name, "%s", reason)
		}
	}
}

// refuseGaps refuses items of lists that have no value.
func (r *reader) refuseGaps(field string, of any) {
	switch of := of.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(of)) {
			r.refuseGaps(strings.TrimPrefix(field+"."+key, "."), of[key])
		}
	case []any:
		for i, value := range of {
			if value == nil {
				r.refuse(item(field, i), "the item has no value")
			}
			r.refuseGaps(item(field, i), value)
		}
	}
}

var (
	domainName    = regexp.MustCompile(`^([-a-zA-Z0-9_]+[.]?)+$`)
	domainPattern = regexp.MustCompile(`^([-a-zA-Z0-9_*]+[.]?)+$`)
)

// maxDomain is the longest name of a domain.
const maxDomain = 255

func (r *reader) checkNames(field string, from []DomainName) {
	for i, name := range from {
		at := item(field, i)
		if (name.MatchName == nil) == (name.MatchPattern == nil) {
			r.refuse(at, "write one of matchName and matchPattern")
		}
		r.checkName(at+".matchName", name.MatchName, domainName)
		r.checkName(at+".matchPattern", name.MatchPattern, domainPattern)
	}
}

func (r *reader) checkName(field string, name *string, form *regexp.Regexp) {
	if name != nil && (len(*name) > maxDomain || !form.MatchString(*name)) {
		r.refuse(field, "%q is no name of a domain", *name)
	}
}

// checkTLS refuses what an entry of ports may not say of TLS and of listeners.
func (r *reader) checkTLS(field string, from PortRule) {
	hasRules := from.Rules != nil && len(from.Rules.HTTP)+len(from.Rules.DNS) > 0
	if from.ServerNames != nil && len(from.ServerNames) == 0 {
		r.refuse(field+".serverNames", "the list is empty: leave it out")
	}
	if len(from.ServerNames) > 0 && hasRules && from.TerminatingTLS == nil {
		r.refuse(field+".serverNames", "an entry with rules has server names only beside terminatingTLS")
	}
	for i, name := range from.ServerNames {
		r.checkName(item(field+".serverNames", i), &name, domainPattern)
		if slices.Contains(from.ServerNames[:i], name) {
			r.refuse(item(field+".serverNames", i), "%q is in the list twice", name)
		}
	}
	if of := from.TerminatingTLS; of != nil {
		r.checkSecret(field+".terminatingTLS.secret", of.Secret)
	}
	if of := from.OriginatingTLS; of != nil {
		r.checkSecret(field+".originatingTLS.secret", of.Secret)
	}
	if l := from.Listener; l != nil {
		at := field + ".listener"
		if hasRules {
			r.refuse(at, "an entry with rules has no listener")
		}
		switch of := l.EnvoyConfig; {
		case l.Name == "" || of == nil || of.Name == "":
			r.refuse(at, "a listener has a name, and envoyConfig with a name")
		case of.Kind != nil && *of.Kind != "CiliumEnvoyConfig" && *of.Kind != "CiliumClusterwideEnvoyConfig":
			r.refuse(at+".envoyConfig.kind", "%q is unknown: use CiliumEnvoyConfig or CiliumClusterwideEnvoyConfig", *of.Kind)
		case l.Priority != nil && (*l.Priority < 1 || *l.Priority > 100):
			r.refuse(at+".priority", "%d is not from 1 to 100", *l.Priority)
		}
	}
}

func (r *reader) checkSecret(field string, of *Secret) {
	if of == nil || of.Name == nil {
		r.refuse(field, "a secret has a name")
	}
}

// checkDNS refuses rules about DNS that Cilium refuses.
func (r *reader) checkDNS(field string, from PortRule) {
	if len(from.Rules.DNS) == 0 {
		return
	}
	r.checkNames(field+".rules.dns", from.Rules.DNS)
	if len(from.Ports) == 0 {
		r.refuse(field+".ports", "rules about DNS need a port")
	}
	for k, port := range from.Ports {
		switch {
		case port.Port == "0":
			r.refuse(item(field+".ports", k)+".port", "rules need a port: 0 is every port")
		case port.EndPort > 0:
			r.refuse(item(field+".ports", k)+".endPort", "rules about DNS need single ports")
		}
	}
}

// messages are the names of messages of ICMP, by their family. The agent cannot read a policy with the name of another
// family. (ICMPField.UnmarshalJSON in pkg/policy/api) The schema has no ExtendedEchoReply.
var messages = map[string][]string{
	"IPv4": strings.Fields(`
	EchoReply DestinationUnreachable Redirect Echo EchoRequest RouterAdvertisement RouterSelection TimeExceeded ParameterProblem Timestamp TimestampReply
	Photuris ExtendedEchoRequest`),
	"IPv6": strings.Fields(`
	DestinationUnreachable PacketTooBig TimeExceeded ParameterProblem EchoRequest EchoReply MulticastListenerQuery MulticastListenerReport
	MulticastListenerDone RouterSolicitation RouterAdvertisement NeighborSolicitation NeighborAdvertisement RedirectMessage RouterRenumbering
	ICMPNodeInformationQuery ICMPNodeInformationResponse InverseNeighborDiscoverySolicitation InverseNeighborDiscoveryAdvertisement
	HomeAgentAddressDiscoveryRequest HomeAgentAddressDiscoveryReply MobilePrefixSolicitation MobilePrefixAdvertisement
	DuplicateAddressRequestCodeSuffix DuplicateAddressConfirmationCodeSuffix ExtendedEchoRequest`),
}

// maxMessages is the largest number of messages in one entry.
const maxMessages = 40

// checkICMP refuses messages that Cilium refuses. A number is not compared with anything.
func (r *reader) checkICMP(field string, from []ICMP, ports []PortRule) {
	if len(from) > 0 && len(ports) > 0 {
		r.refuse(field+".icmps", "a rule about ICMP has no ports: write a rule of its own for the ports")
	}
	for i, entry := range from {
		at := item(field+".icmps", i) + ".fields"
		if len(entry.Fields) > maxMessages {
			r.refuse(at, "the list has %d messages, at most %d are allowed", len(entry.Fields), maxMessages)
		}
		for k, message := range entry.Fields {
			family := "IPv4"
			if message.Family != nil {
				family = *message.Family
			}
			names, known := messages[family]
			if !known {
				r.refuse(item(at, k)+".family", "%q is unknown: use IPv4 or IPv6", family)
				continue
			}
			text, isText := message.Type.(string)
			number, isNumber := message.Type.(int64)
			switch {
			case isText && !isByte(text) && !slices.Contains(names, text):
				r.refuse(item(at, k)+".type", "%s is no type of a message of %s: write its number or its name", text, family)
			case !isText && (!isNumber || number != int64(int32(number))):
				r.refuse(item(at, k)+".type", "%v is no type of a message: write its number or its name", message.Type)
			}
		}
	}
}

// isByte reports whether the text is a number below 256 in plain decimal digits.
func isByte(text string) bool {
	n, err := strconv.ParseUint(text, 10, 8)
	return err == nil && strconv.FormatUint(n, 10) == text
}

// maxLog is the longest text of a log, in characters.
const maxLog = 32

var printable = regexp.MustCompile(`^\PC*$`)

// checkNotes refuses notes of a spec that the schema refuses.
func (r *reader) checkNotes(field string, from Spec) {
	for i := range from.Labels {
		if from.Labels[i].Key == "" {
			r.refuse(item(field+".labels", i)+".key", "the key is missing")
		}
	}
	if utf8.RuneCountInString(from.Log.Value) > maxLog || !printable.MatchString(from.Log.Value) {
		r.refuse(field+".log.value", "%q has more than %d characters, or one that cannot be printed", from.Log.Value, maxLog)
	}
}
