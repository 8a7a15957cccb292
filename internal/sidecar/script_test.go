package sidecar

import "testing"

// A script is harmless where each name in it is known.
func TestUnprovenScript(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"": "",
		"function envoy_on_request(handle) handle:headers():add('a', 'io') end":            "",
		"local function f(a, ...) return a..'b' end\nfor k, v in pairs({}) do f(k, v) end": "",
		"--[==[ x:httpCall() ]] ]==] local a = [=[ os.execute() ]=]":                       "",
		"-- os.execute()\r\nlocal a = 'it\\'s os'":                                         "",
		"local t = {[':status'] = '200'; ['a'] = 1, [2] = 3} return t[1]":                  "",
		"-- a\nx:httpCall()":                              `its script uses the name "x", which is not known to send no requests`,
		"--[[ a ]]os.exit()":                              `its script uses the name "os", which is not known to send no requests`,
		"--[=[ ]] ]=]os.exit()":                           `its script uses the name "os", which is not known to send no requests`,
		"'\\''os.exit()":                                  `its script uses the name "os", which is not known to send no requests`,
		"local h h : httpCall()":                          `its script uses the member "httpCall", which is not known to send no requests`,
		"local h h.--\nhttpCall":                          `its script uses the member "httpCall", which is not known to send no requests`,
		"local h h['x']()":                                "its script computes the name of a member",
		"local h h[ [[x]] ]()":                            "its script computes the name of a member",
		"local h ({})[h]()":                               "its script computes the name of a member",
		"for getfenv in pairs({}) do getfenv() end":       `its script uses the name "getfenv", which is not known to send no requests`,
		"function envoy_on_request(_G) end":               `its script uses the name "_G", which is not known to send no requests`,
		"local h h:metadata():set('kuma.routes', 'a', h)": "",
		"local h h:metadata():set('envoy.lb', 'a', h)":    `its script uses the member "set", which is not known to send no requests`,
		"local h h:metadata():set('kuma'..h, 'a', h)":     `its script uses the member "set", which is not known to send no requests`,
		"local h h.set(h, 'envoy.lb', 'a')":               `its script uses the member "set", which is not known to send no requests`,
		"local h local s = h.set s(h, 'envoy.lb')":        `its script uses the member "set", which is not known to send no requests`,
		"local h h:set('env\\111y.lb', 'a', h)":           `its script uses the member "set", which is not known to send no requests`,
		"goto a ::a::":                                    `its script uses the name "goto", which is not known to send no requests`,
		"\x1bLJ":                                          "its script is not read as Lua",
		"local \u00e9":                                    "its script is not read as Lua",
		"local a = 'x\n":                                  "its script is not read as Lua",
		"local a = [[x":                                   "its script is not read as Lua",
		"--[[ x":                                          "its script is not read as Lua",
	} {
		if got := unprovenScript(source); got != want {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
}
