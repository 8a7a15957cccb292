package enginetest

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	networkinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	sslinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	ipv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/ip/v3"
	metadatav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/metadata/v3"
	uritemplatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/path/match/uri_template/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/policy"
)

// unpack reads the message of an extension.
func unpack(config *xdscorev3.TypedExtensionConfig) proto.Message {
	m, err := config.TypedConfig.UnmarshalNew()
	if err != nil {
		panic(err)
	}
	return m
}

// input returns what a matcher looks at, and false for what the request has not.
func input(config *xdscorev3.TypedExtensionConfig, r *policy.Request) (string, bool) {
	switch in := unpack(config).(type) {
	case *sslinputsv3.UriSanInput:
		return strings.Join(r.URIs, ","), true
	case *sslinputsv3.DnsSanInput:
		return strings.Join(r.DNS, ","), true
	case *networkinputsv3.ServerNameInput:
		return r.SNI, r.SNI != ""
	case *networkinputsv3.DestinationPortInput:
		return strconv.Itoa(int(r.Port)), true
	case *networkinputsv3.DestinationIPInput:
		return r.Destination.String(), true
	case *networkinputsv3.DirectSourceIPInput:
		return r.Source.String(), true
	case *networkinputsv3.SourceIPInput:
		return remote(r).String(), true
	case *envoymatcherv3.HttpRequestHeaderMatchInput:
		lines := headerLines(in.HeaderName, r)
		return strings.Join(lines, ","), len(lines) > 0
	default:
		panic(fmt.Sprintf("input %v is unknown", in))
	}
}

// matches reads a StringMatcher of xds.type or of envoy.type: both have the same fields.
func matches(matcher proto.Message, value string, r *policy.Request) bool {
	m := matcher.ProtoReflect()
	pattern := m.WhichOneof(m.Descriptor().Oneofs().ByName("match_pattern"))
	field := m.Get(pattern)
	text := field.String()
	if m.Get(m.Descriptor().Fields().ByName("ignore_case")).Bool() {
		text, value = inLowerCase.Replace(text), inLowerCase.Replace(value)
	}
	switch pattern.Name() {
	case "exact":
		return value == text
	case "prefix":
		return strings.HasPrefix(value, text)
	case "suffix":
		return strings.HasSuffix(value, text)
	case "contains":
		return strings.Contains(value, text)
	case "safe_regex":
		return matchesRegex(field.Message().Interface().(interface{ GetRegex() string }).GetRegex(), value, r)
	}
	panic(fmt.Sprintf("matcher %v is unknown", matcher))
}

// inLowerCase changes the letters of ASCII, and no other bytes.
var inLowerCase = func() *strings.Replacer {
	var pairs []string
	for c := 'A'; c <= 'Z'; c++ {
		pairs = append(pairs, string(c), strings.ToLower(string(c)))
	}
	return strings.NewReplacer(pairs...)
}()

// matchesRegex reads a value as Latin-1, a character for each byte, or as UTF-8.
func matchesRegex(expression, value string, r *policy.Request) bool {
	if expression == `\C*` {
		// Any bytes: package regexp has no such class.
		return true
	}
	if !r.UTF8 {
		var characters strings.Builder
		for i := range len(value) {
			characters.WriteRune(rune(value[i]))
		}
		value = characters.String()
	}
	return utf8.ValidString(value) && regexp.MustCompile(`\A(?:`+expression+`)\z`).MatchString(value)
}

// inBlocks follows envoy.extensions.matching.input_matchers.ip.v3.Ip.
func inBlocks(config *xdscorev3.TypedExtensionConfig, value string) bool {
	m, ok := unpack(config).(*ipv3.Ip)
	if !ok {
		panic(fmt.Sprintf("match %v is unknown", config))
	}
	address, err := netip.ParseAddr(value)
	return err == nil && slices.ContainsFunc(m.CidrRanges, func(block *corev3.CidrRange) bool { return inBlock(block, address) })
}

func asksMetadata(config *xdscorev3.TypedExtensionConfig) bool {
	_, ok := unpack(config).(*networkinputsv3.DynamicMetadataInput)
	return ok
}

// hasMetadata follows envoy.extensions.matching.input_matchers.metadata.v3.Metadata.
func hasMetadata(config, custom *xdscorev3.TypedExtensionConfig, r *policy.Request) bool {
	in, m := unpack(config).(*networkinputsv3.DynamicMetadataInput), unpack(custom).(*metadatav3.Metadata)
	var keys []string
	for _, segment := range in.Path {
		keys = append(keys, segment.GetKey())
	}
	return hasValue(in.Filter, keys, m.Value, r) != m.Invert
}

// hasValue follows envoy.type.matcher.v3.ValueMatcher, for the claims of a token.
func hasValue(filter string, keys []string, m *envoymatcherv3.ValueMatcher, r *policy.Request) bool {
	if filter != "envoy.filters.http.jwt_authn" || keys[0] != "payload" {
		panic(fmt.Sprintf("metadata of %s at %q is unknown", filter, keys))
	}
	name := "claim " + strings.Join(keys[1:], ".")
	// scalar reports whether the text of a number, of true, false or null is matched.
	scalar := func(text string, m *envoymatcherv3.ValueMatcher) bool {
		number, err := strconv.ParseFloat(text, 64)
		switch by := m.MatchPattern.(type) {
		case *envoymatcherv3.ValueMatcher_NullMatch_:
			return text == "null"
		case *envoymatcherv3.ValueMatcher_BoolMatch:
			return text == strconv.FormatBool(by.BoolMatch)
		case *envoymatcherv3.ValueMatcher_DoubleMatch:
			if span := by.DoubleMatch.GetRange(); span != nil {
				return err == nil && number >= span.Start && number < span.End
			}
			return err == nil && number == by.DoubleMatch.GetExact()
		}
		return false
	}
	switch by := m.MatchPattern.(type) {
	case *envoymatcherv3.ValueMatcher_StringMatch:
		texts := r.Others[name]
		return len(texts) > 0 && matches(by.StringMatch, texts[0], r)
	case *envoymatcherv3.ValueMatcher_ListMatch:
		one := by.ListMatch.GetOneOf()
		if one.GetStringMatch() == nil {
			return slices.ContainsFunc(r.Others[name+"[#]"], func(text string) bool { return scalar(text, one) })
		}
		return slices.ContainsFunc(r.Others[name+"[]"], func(text string) bool { return matches(one.GetStringMatch(), text, r) })
	case *envoymatcherv3.ValueMatcher_PresentMatch:
		return by.PresentMatch && slices.ContainsFunc([]string{"", "[]", "#", "[#]", "?"}, func(form string) bool { return len(r.Others[name+form]) > 0 })
	case *envoymatcherv3.ValueMatcher_NullMatch_, *envoymatcherv3.ValueMatcher_BoolMatch, *envoymatcherv3.ValueMatcher_DoubleMatch:
		return slices.ContainsFunc(r.Others[name+"#"], func(text string) bool { return scalar(text, m) })
	default:
		panic(fmt.Sprintf("match %v is unknown", m))
	}
}

// fitsTemplate follows envoy.extensions.path.match.uri_template.v3, segment by segment.
func fitsTemplate(config *corev3.TypedExtensionConfig, path string) bool {
	var m uritemplatev3.UriTemplateMatchConfig
	if err := config.TypedConfig.UnmarshalTo(&m); err != nil {
		panic(err)
	}
	named := regexp.MustCompile(`\{[^=}]*(=([^}]*))?\}`).ReplaceAllStringFunc(m.PathTemplate, func(variable string) string {
		if _, pattern, ok := strings.Cut(strings.Trim(variable, "{}"), "="); ok {
			return pattern
		}
		return "*"
	})
	const character = `[-a-zA-Z0-9._~%!$&'()*+,;=:@`
	expression := strings.NewReplacer(`\*\*`, character+`/]*`, `\*`, character+`]+`).Replace(regexp.QuoteMeta(named))
	return regexp.MustCompile(`\A` + expression + `\z`).MatchString(path)
}
