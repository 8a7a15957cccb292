package authorization

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/meshproof/meshproof/internal/automaton"
)

func refuseNothing(string) string { return "" }

// refuseText refuses a value that is compared by a regular expression and has a character
// that releases of Envoy read differently.
func refuseText(byRegex bool, value string) string {
	if byRegex && strings.ContainsFunc(value, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return fmt.Sprintf("%q has a character beyond ASCII: releases of Envoy compare it differently here", value)
	}
	return ""
}

func refuseServiceAccount(value string) string {
	namespace, account, stated := strings.Cut(value, "/")
	switch {
	case strings.Contains(value, "*"):
		return fmt.Sprintf("%q has a wildcard: a service account has none, write namespaces", value)
	case stated && (namespace == "" || account == "") || strings.Contains(account, "/"):
		return fmt.Sprintf("%q is no service account: write its name, or namespace/name", value)
	case len(value) > 320:
		return fmt.Sprintf("the service account has %d characters, at most 320 are allowed", len(value))
	default:
		return refuseText(true, value)
	}
}

// portOf returns the number of a port that is valid.
func portOf(value string) uint64 {
	port, _ := strconv.ParseUint(value, 10, 16)
	return port
}

func refusePort(value string) string {
	if _, err := strconv.ParseUint(value, 10, 16); err != nil {
		return fmt.Sprintf("%q is no port: write a number up to 65535", value)
	}
	return ""
}

// refuseBlock refuses what is neither an address nor a block of addresses.
func refuseBlock(value string) string {
	if _, err := blockOf(value); err != nil {
		return fmt.Sprintf("%q is neither an IP address nor a block such as 10.0.0.0/8", value)
	}
	return ""
}

// blockOf reads an address as the block that has no other one.
func blockOf(value string) (netip.Prefix, error) {
	if strings.Contains(value, "/") {
		block, err := netip.ParsePrefix(value)
		return block.Masked(), err
	}
	address, err := netip.ParseAddr(value)
	if err == nil && address.Zone() != "" {
		err = errors.New("it has a zone")
	}
	return netip.PrefixFrom(address, address.BitLen()), err
}

func refuseTrustDomain(value string) string {
	switch inner := strings.TrimPrefix(strings.TrimSuffix(value, "*"), "*"); {
	case strings.Contains(value, "/"):
		return fmt.Sprintf("%q has a slash: a trust domain has none, write principals", value)
	case strings.Contains(inner, "*") || value != "*" && value[0] == '*' && value[len(value)-1] == '*':
		return fmt.Sprintf("%q has a star inside, or two: one is allowed at the start or at the end", value)
	default:
		return refuseText(true, value)
	}
}

// literal is a segment of a template. A star is one of RFC 3986's characters, but not here.
var literal = regexp.MustCompile(`^[-a-zA-Z0-9._~%!$&'()+,;:@=]+$`)

// refusePath refuses braces but those of the operators {*} and {**}, each a whole segment, none
// of them behind {**}.
func refusePath(value string) string {
	last := false
	for _, segment := range strings.Split(strings.Trim(value, "/"), "/") {
		switch operator := segment == "{*}" || segment == "{**}"; {
		case operator && last:
			return fmt.Sprintf("an operator stands behind {**} in %q: {**} has to be the last one", value)
		case operator:
			last = segment == "{**}"
		case strings.ContainsAny(segment, "{}"):
			return fmt.Sprintf("%q has braces: only {*} and {**} are operators, each a whole segment", value)
		case isTemplate(value) && strings.Contains(segment, "*"):
			return fmt.Sprintf("%q has a star and an operator: write {*} or {**} for the star", value)
		case isTemplate(value) && !literal.MatchString(segment):
			return fmt.Sprintf("%q has the segment %q beside an operator, which is no text of a path (RFC 3986, pchar)", value, segment)
		}
	}
	if !isTemplate(value) {
		return ""
	}
	if _, err := automaton.Template(automaton.Wildcards(value)); err != nil {
		return fmt.Sprintf("%q is no template: %v", value, err)
	}
	return ""
}

func isTemplate(value string) bool {
	return automaton.Wildcards(value) != value
}
