package sidecar

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	luav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/lua/v3"
)

// A script behind RBAC can send requests of its own, also to the workload of another inbound:
// by httpCall, or by the libraries of LuaJIT. Names that a script may use are known; it has
// to write each of them out, so that it cannot compute another.

// luaWords are the keywords and the harmless globals of Lua, and the functions that Envoy
// calls.
var luaWords = wordSet(`and break do else elseif end false for function if in local nil not or repeat return then true until while
	assert error ipairs math next pairs pcall print select string table tonumber tostring type unpack xpcall
	envoy_on_request envoy_on_response`)

// luaGlobals are the other globals of LuaJIT. A script may give none of them another meaning.
var luaGlobals = wordSet(`_ENV _G _VERSION bit collectgarbage coroutine debug dofile ffi gcinfo getfenv getmetatable io jit load loadfile
	loadstring module newproxy os package rawequal rawget rawlen rawset require setfenv setmetatable`)

// luaMembers are functions of libraries, and methods of what Envoy gives to a script. None of
// them sends a request, chooses an endpoint or runs code that is a text.
var luaMembers = wordSet(`byte char find format gmatch gsub len lower match reverse sub upper concat insert remove sort
	abs ceil floor huge max min
	headers trailers body bodyChunks length getBytes setBytes add append get getAtIndex getNumValues replace setHttp1ReasonPhrase
	logTrace logDebug logInfo logWarn logErr logCritical respond metadata filterContext base64Escape timestamp timestampString
	streamInfo protocol routeName requestedServerName downstreamLocalAddress downstreamDirectLocalAddress downstreamRemoteAddress
	downstreamDirectRemoteAddress dynamicMetadata connection ssl uriSanPeerCertificate`)

func wordSet(text string) map[string]bool {
	out := map[string]bool{}
	for _, word := range strings.Fields(text) {
		out[word] = true
	}
	return out
}

// sourcesOf returns the scripts of a Lua filter.
func sourcesOf(m *luav3.Lua) []*corev3.DataSource {
	//lint:ignore SA1019 Envoy reads it still, and most people write it
	inline := m.GetInlineCode()
	sources := []*corev3.DataSource{m.GetDefaultSourceCode(), {Specifier: &corev3.DataSource_InlineString{InlineString: inline}}}
	for _, name := range slices.Sorted(maps.Keys(m.GetSourceCodes())) {
		sources = append(sources, m.SourceCodes[name])
	}
	return sources
}

// unprovenLua says why a Lua filter may send requests of its own; "" where it cannot.
func unprovenLua(m *luav3.Lua) (reason string) {
	for _, source := range sourcesOf(m) {
		reason = cmp.Or(reason, unprovenSource(source))
	}
	return reason
}

// headerWriters are the methods that write a header or take it away, by its name.
var headerWriters = wordSet(`add append replace remove`)

// headersOf returns the headers that a script writes or takes away, in lower case. All is false
// where the script does not write out the name of each of them: then it may change the path or
// the method of a request.
func headersOf(of *corev3.DataSource) (names []string, all bool) {
	tokens, _ := luaTokens(of.GetInlineString() + string(of.GetInlineBytes()))
	all = true
	for i, token := range tokens {
		if i == 0 || !headerWriters[token] || tokens[i-1] != ":" && tokens[i-1] != "." {
			continue
		}
		if len(tokens) < i+4 || tokens[i+1] != "(" || tokens[i+3] != "," && (token != "remove" || tokens[i+3] != ")") || !isPlainQuote(tokens[i+2]) {
			all = false
			continue
		}
		names = append(names, strings.ToLower(strings.TrimPrefix(tokens[i+2], luaQuote)))
	}
	return names, all
}

// isPlainQuote reports whether a token is a text that stands for itself, and for no header
// that is a part of the request line.
func isPlainQuote(token string) bool {
	text, ok := strings.CutPrefix(token, luaQuote)
	return ok && text != "" && !strings.ContainsAny(text, `:\\`)
}

func unprovenSource(of *corev3.DataSource) string {
	switch of := of.GetSpecifier().(type) {
	case nil:
		return ""
	case *corev3.DataSource_InlineString:
		return unprovenScript(of.InlineString)
	case *corev3.DataSource_InlineBytes:
		return unprovenScript(string(of.InlineBytes))
	default:
		return "its script is not in the dump"
	}
}

// unprovenScript says why a script may send requests of its own; "" where it cannot.
func unprovenScript(source string) string {
	tokens, ok := luaTokens(source)
	if !ok {
		return "its script is not read as Lua"
	}
	own := ownNames(tokens)
	for i, token := range tokens {
		before := tokens[max(i-1, 0)]
		switch {
		case token == "[" && before != "{" && before != "," && before != ";" && !isIndex(tokens[i+1:]):
			return "its script computes the name of a member"
		case !isLuaName(token):
		case i > 0 && (before == "." || before == ":"):
			if !luaMembers[token] && !setsOwnMetadata(tokens[i:]) {
				return fmt.Sprintf("its script uses the member %q, which is not known to send no requests", token)
			}
		case luaGlobals[token] || !luaWords[token] && !own[token]:
			return fmt.Sprintf("its script uses the name %q, which is not known to send no requests", token)
		}
	}
	return ""
}

// setsOwnMetadata reports whether a script sets metadata of a name that it writes out, and that is none of Envoy's: Envoy chooses endpoints
// by envoy.lb. Kuma has such a script for the logs of outbound routes.
func setsOwnMetadata(tokens []string) bool {
	return len(tokens) > 3 && tokens[0] == "set" && tokens[1] == "(" && isPlainQuote(tokens[2]) && tokens[3] == "," && !strings.HasPrefix(tokens[2], luaQuote+"envoy.")
}

// isIndex reports whether a bracket holds nothing but a number.
func isIndex(behind []string) bool {
	return len(behind) > 1 && behind[0][0] >= '0' && behind[0][0] <= '9' && behind[1] == "]"
}

// ownNames returns the names that a script declares: of locals, of loops, of functions and
// of their parameters.
func ownNames(tokens []string) map[string]bool {
	own := map[string]bool{}
	for i, token := range tokens {
		if token != "local" && token != "for" && token != "function" {
			continue
		}
		rest := tokens[i+1:]
		if token == "function" {
			// Its name, and then its parameters.
			if len(rest) > 0 && isLuaName(rest[0]) {
				own[rest[0]] = true
			}
			rest = rest[slices.Index(rest, "(")+1:]
		}
		for len(rest) > 0 && isLuaName(rest[0]) {
			own[rest[0]] = true
			if len(rest) < 2 || rest[1] != "," {
				break
			}
			rest = rest[2:]
		}
	}
	return own
}

func isLuaName(token string) bool { return strings.IndexByte(luaStart, token[0]) >= 0 }

// luaQuote begins the token of a text in quotation marks. A text in long brackets is nothing
// else.
const luaQuote = `"`

const (
	luaStart = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	luaDigit = "0123456789"
	luaSigns = "+-*/%^#=<>(){}[];:,.~"
)

// luaTokens cuts a script into names, numbers and signs, without comments. A string is one
// token that begins with a quotation mark. It returns false for anything else, such as
// bytecode or letters that are not ASCII.
func luaTokens(source string) (out []string, ok bool) {
	for source != "" {
		n := 1
		switch c := source[0]; {
		case strings.HasPrefix(source, "--"):
			n = commentEnd(source)
		case strings.IndexByte(" \t\r\n", c) >= 0:
		case c == '"' || c == '\'':
			n = quoteEnd(source)
			out = append(out, luaQuote+source[1:max(1, n-1)])
		case c == '[' && longEnd(source) != 0:
			n = longEnd(source)
			out = append(out, luaQuote)
		case strings.IndexByte(luaStart, c) >= 0:
			n = len(source) - len(strings.TrimLeft(source, luaStart+luaDigit))
			out = append(out, source[:n])
		case strings.IndexByte(luaDigit, c) >= 0:
			n = len(source) - len(strings.TrimLeft(source, luaStart+luaDigit+"."))
			out = append(out, source[:n])
		case strings.HasPrefix(source, ".."):
			n = len(source) - len(strings.TrimLeft(source, "."))
			out = append(out, source[:n])
		case strings.IndexByte(luaSigns, c) >= 0:
			out = append(out, source[:1])
		default:
			return nil, false
		}
		if n < 0 {
			return nil, false
		}
		source = source[n:]
	}
	return out, true
}

func commentEnd(source string) int {
	switch n := longEnd(source[2:]); {
	case n > 0:
		return 2 + n
	case n < 0:
		return n
	}
	if n := strings.IndexAny(source, "\r\n"); n >= 0 {
		return n
	}
	return len(source)
}

// longEnd returns the length of text in long brackets, such as [==[ ]==]; 0 where none
// begins, and -1 where it has no end.
func longEnd(source string) int {
	rest, ok := strings.CutPrefix(source, "[")
	equals := len(rest) - len(strings.TrimLeft(rest, "="))
	if !ok || !strings.HasPrefix(rest[equals:], "[") {
		return 0
	}
	end := "]" + rest[:equals] + "]"
	if n := strings.Index(rest, end); n >= 0 {
		return 1 + n + len(end)
	}
	return -1
}

// quoteEnd returns the length of a string in quotation marks, or -1.
func quoteEnd(source string) int {
	for i := 1; i < len(source); i++ {
		switch source[i] {
		case source[0]:
			return i + 1
		case '\\':
			i++
		case '\r', '\n':
			return -1
		}
	}
	return -1
}
