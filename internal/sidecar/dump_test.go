package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/golden"
)

// camelCase writes names of fields as most control planes do.
var camelCase = strings.NewReplacer("filter_chains", "filterChains", "port_value", "portValue", "socket_address", "socketAddress",
	"typed_config", "typedConfig", "stat_prefix", "statPrefix", "traffic_direction", "trafficDirection", "user_agent_build_version", "userAgentBuildVersion",
	"major_number", "majorNumber", "minor_number", "minorNumber").Replace

// The admin interface can print a part of the dump, and control planes print lowerCamelCase.
func TestDumpForms(t *testing.T) {
	t.Parallel()
	listener := serving(l4(permitAll))
	want := readDump(t, []byte(wholeDump(listener)))
	if len(want.Inbounds) != 1 || len(want.Inbounds[0].Filters.Network) != 1 || want.Unknown != nil {
		t.Fatalf("read %+v", want)
	}
	bare := strings.Replace(listener, `"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", `, "", 1)
	for name, text := range map[string]string{
		"resource=dynamic_listeners": `{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump.DynamicListener", "name": "in", "active_state": {"listener": ` + listener + `}}]}`,
		"resource=static_listeners":  `{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump.StaticListener", "listener": ` + listener + `}]}`,
		"lowerCamelCase":             camelCase(`{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", "staticListeners": [{"listener": ` + listener + `}]}]}`),
		"a listener with its type":   listener,
		"a listener":                 bare,
		"an array":                   "[" + listener + "]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(describe(t, want), describe(t, readDump(t, []byte(text)))); diff != "" {
				t.Errorf("(-the whole dump +this):\n%s", diff)
			}
		})
	}
}

func TestDumpRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":             {"", "no JSON: EOF"},
		"YAML":                {"configs: []", "no JSON: "},
		"two values":          {"{} {}", "no JSON: something follows the value"},
		"another object":      {`{"name": "x"}`, "it is neither a configuration dump, nor a listener"},
		"a number":            {"7", "it is neither a configuration dump, nor a listener"},
		"no filters":          {"[]", "it is an empty array"},
		"numbers":             {"[7]", "it is neither a configuration dump, nor a listener"},
		"another type":        {`[{"@type": "type.googleapis.com/acme.Thing"}]`, `item 0: meshproof does not know what "acme.Thing" is for`},
		"the runtime alone":   {`{"layers": [], "entries": {}}`, "it is the answer to /runtime alone, which has no listener: give the output of Envoy's /config_dump beside it, both in one folder"},
		"nested without end":  {strings.Repeat("[", 600) + strings.Repeat("]", 600), "it is nested deeper than 512 levels"},
		"nested much further": {strings.Repeat("[", 20000), "no JSON: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Dump([]byte(tt.text))
			if err == nil || !strings.HasPrefix(err.Error(), "sidecar: read dump: "+tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// The name of a filter finds its extension configuration.
func TestDiscoveredFilters(t *testing.T) {
	t.Parallel()
	ecds := fmt.Sprintf(`{"@type": "type.googleapis.com/envoy.admin.v3.EcdsConfigDump", "ecds_filters": [
		{"ecds_filter": %s, "error_state": {"details": "no such\nfield"}}, {"ecds_filter": %s}]}`,
		typed("envoy.config.core.v3.TypedExtensionConfig", filter("four", networkRBAC, `"stat_prefix": "s", `+denyAll)),
		typed("envoy.config.core.v3.TypedExtensionConfig", filter("seven", httpRBAC, permitAll+`, "rules_stat_prefix": "r_", "shadow_rules_stat_prefix": "s_"`)))
	s := readDump(t, []byte(wholeDump(serving(discovered("four", networkRBAC), manager("", discovered("seven", httpRBAC))), ecds)))
	golden.Compare(t, "discovered.golden", describe(t, s))
}

func TestDirection(t *testing.T) {
	t.Parallel()
	guess := "neither traffic_direction nor its name tells its direction: taken for inbound"
	for _, tt := range []struct{ listener, inbound, skipped, unknown string }{
		{`"name": "inbound:10.0.0.1:80"`, "inbound:10.0.0.1:80", "", ""},
		{`"name": "self_inbound_dp_80"`, "self_inbound_dp_80", "", ""},
		{`"name": "anything", "traffic_direction": "INBOUND"`, "anything", "", ""},
		{`"name": "anything"`, "anything", "", guess},
		{`"address": {"socket_address": {"address": "::", "port_value": 90}}`, "[::]:90", "", guess},
		{`"name": "inbound:10.0.0.1:80", "traffic_direction": "OUTBOUND"`, "", "traffic_direction is OUTBOUND", ""},
		{`"name": "outbound:10.0.0.1:80"`, "", "its name is the name of an outbound listener", ""},
		{`"name": "udp", "traffic_direction": "INBOUND", "udp_listener_config": {}`, "udp", "", "it listens on UDP, which the lab does not"},
		{`"name": "api", "traffic_direction": "INBOUND", "api_listener": {}`, "api", "", "an API listener: requests come from inside of the process"},
	} {
		s := readDump(t, []byte(`{"filter_chains": [{}], `+tt.listener+`}`))
		var inbound, skipped, unknown string
		for _, in := range s.Inbounds {
			inbound = in.Listener
		}
		for _, sk := range s.Skipped {
			skipped = sk.Reason
		}
		for _, u := range s.Unknown {
			unknown = u.Reason
		}
		if inbound != tt.inbound || skipped != tt.skipped || unknown != tt.unknown {
			t.Errorf("%s: inbound %q, skipped %q, unknown %q", tt.listener, inbound, skipped, unknown)
		}
	}
}

// Hostile input ends in an error or a report.
func FuzzDump(f *testing.F) {
	// Small ones: the fuzzer changes few bytes at a time.
	for _, text := range []string{
		wholeDump(serving(manager(rds, discovered("x", httpRBAC), l7(permitAll)))),
		serving(manager(`"route_config": `+routes("r", "*", routeTo("/a", ", "+perRoute("")))+",", l7(denyAll))),
		serving(l4(matching(identity, onMatch))),
		serving(filter("x", "xds.type.v3.TypedStruct", `"type_url": "`+prefix+networkRBAC+`", "value": {"rules": {}}`)),
		`[{"@type": "` + prefix + httpRBAC + `", ` + permitAll + `}]`,
		`[{"inbound": "i", "protocol": "tcp", "filters": [{"@type": "` + prefix + networkRBAC + `", ` + denyAll + `}]}]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Dump(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "sidecar: read dump: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q", err)
			}
			return
		}
		for _, in := range s.Inbounds {
			if len(in.Guards) != len(in.Filters.Network)+len(in.Filters.HTTP) {
				t.Errorf("%d guards of %d filters", len(in.Guards), len(in.Filters.Network)+len(in.Filters.HTTP))
			}
			lost := false
			for _, u := range s.UnknownOf(in) {
				lost = lost || u.Kind == dump.Lost
			}
			if lost != in.Incomplete || in.Incomplete && in.Unguarded() {
				t.Errorf("%s is incomplete: %t, lost: %t", in.Listener, in.Incomplete, lost)
			}
			for _, m := range in.Filters.Messages() {
				packable(t, m)
			}
		}
		for _, u := range s.Unknown {
			if u.Reason == "" || strings.Contains(u.String(), "\n") {
				t.Errorf("unknown %q", u.String())
			}
		}
	})
}

func folder(files map[string]string) fs.FS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func TestFolder(t *testing.T) {
	t.Parallel()
	network := `{"@type": "type.googleapis.com/` + networkRBAC + `", ` + denyAll + `}`
	http := `{"@type": "type.googleapis.com/` + httpRBAC + `", ` + permitAll + `}`
	s, err := Folder(folder(map[string]string{
		"1-filters.json":  "[" + network + "," + http + "]",
		"2-compiled.json": `[{"inbound": "backend/tcp", "protocol": "tcp", "filters": [` + network + `]}, {"inbound": "backend/grpc", "protocol": "grpc", "filters": [` + http + `, {"@type": "type.googleapis.com/` + routeRBAC + `"}]}, {"inbound": "open", "protocol": "http3", "filters": []}]`,
		"3-listener.json": serving(manager(rds, l7(denyAll))),
		"4-route.json":    typed("envoy.config.route.v3.RouteConfiguration", routes("r", "*", routeTo("/admin", ", "+perRoute("")))),
		"5-one.json":      http,
		"deep/dump.json":  wholeDump(strings.Replace(serving(), `"name": "in"`, `"name": "deep"`, 1)),
		"notes.txt":       "not read",
	}))
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "folder.golden", describe(t, s))
}

func TestFolderRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":     {nil, "it has no file *.json, such as the answer to /config_dump: file does not exist"},
		"the runtime": {map[string]string{"runtime.json": `{"layers": [], "entries": {}}`}, "it is the answer to /runtime alone"},
		"a file":      {map[string]string{"a/b.json": "{}"}, "a/b.json: it is neither a configuration dump"},
		"broken JSON": {map[string]string{"x.json": "{"}, "x.json: no JSON: unexpected EOF: give it the output of Envoy's /config_dump or /runtime, or take it out of the folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Folder(folder(tt.files)); err == nil || !strings.HasPrefix(err.Error(), "sidecar: read folder: "+tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	if _, err := Folder(folder(nil)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want an error that wraps %v", err, fs.ErrNotExist)
	}
}

func TestFolderOfOneFileIsDump(t *testing.T) {
	t.Parallel()
	// Some programs write a mark in front of a text.
	s, err := Folder(folder(map[string]string{"kuma.json": "\ufeff" + string(testdata(t, "kuma.json"))}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(describe(t, readDump(t, testdata(t, "kuma.json"))), describe(t, s)); diff != "" {
		t.Errorf("(-dump +folder):\n%s", diff)
	}
}

// Filters may come as a filter chain has them: with a name and a configuration.
func TestNamedFilters(t *testing.T) {
	t.Parallel()
	deny := filter("deny", httpRBAC, `"rules": {"action": "DENY", "policies": {"p": {"permissions": [{"any": true}], "principals": [{"any": true}]}}}`)
	allow, lua := filter("allow", httpRBAC, permitAll), filter("lua", "envoy.extensions.filters.http.lua.v3.Lua", "")
	disabled := strings.Replace(deny, "{", `{"disabled": true, `, 1)
	for name, tt := range map[string]struct {
		text       string
		guards     string
		incomplete bool
		positions  string
	}{
		"one":                        {deny, "deny", false, ""},
		"one in lowerCamelCase":      {camelCase(deny), "deny", false, ""},
		"a list":                     {"[" + deny + ", " + allow + "]", "deny allow", false, ""},
		"a list in lowerCamelCase":   {camelCase("[" + deny + ", " + allow + "]"), "deny allow", false, ""},
		"another filter in front":    {"[" + lua + ", " + allow + "]", "allow", false, dump.InFront.String()},
		"another filter behind":      {"[" + allow + ", " + lua + "]", "allow", false, dump.BehindRBAC.String()},
		"a field beside":             {disabled, "deny", true, ""},
		"in two spellings":           {strings.Replace(allow, `"typed_config"`, `"typedConfig": {}, "typed_config"`, 1), "allow", true, ""},
		"of an inbound":              {compiled(""), "#0", false, ""},
		"of an inbound with routes":  {compiled(`, "routes": [{}]`), "#0", true, ""},
		"a field beside, in a list":  {"[" + allow + ", " + disabled + "]", "allow deny", true, ""},
		"with and without its name":  {"[" + allow + `, {"@type": "` + prefix + httpRBAC + `", ` + denyAll + "}]", "allow #1", false, ""},
		"an unknown filter in front": {"[" + filter("x", "acme.Thing", "") + ", " + allow + "]", "allow", false, dump.InFront.String()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readDump(t, []byte(tt.text))
			if len(s.Inbounds) != 1 {
				t.Fatalf("%d inbounds", len(s.Inbounds))
			}
			var guards, positions []string
			for _, g := range s.Inbounds[0].Guards {
				guards = append(guards, g.Filter)
			}
			for _, u := range s.Unknown {
				if u.Position != dump.Unplaced {
					positions = append(positions, u.Position.String())
				}
			}
			if got := strings.Join(guards, " "); got != tt.guards || s.Inbounds[0].Incomplete != tt.incomplete || strings.Join(positions, " ") != tt.positions {
				t.Errorf("guards %q, incomplete %t, positions %q, unknown %v", got, s.Inbounds[0].Incomplete, positions, s.Unknown)
			}
		})
	}
	if _, err := Dump([]byte("[" + lua + "]")); err == nil {
		t.Error("a list without an RBAC filter is taken for filters")
	}
}

// compiled is an entry of what compile prints, with more fields.
func compiled(fields string) string {
	return `{"inbound": "dp/http-port", "protocol": "http", "filters": [{"@type": "` + prefix + httpRBAC + `", ` + denyAll + `}]` + fields + `}`
}

// The bootstrap names the version of the sidecar.
func TestEnvoyVersion(t *testing.T) {
	t.Parallel()
	bootstrap := func(build string) string {
		return fmt.Sprintf(`{"@type": "%senvoy.admin.v3.BootstrapConfigDump", "bootstrap": {"node": {"user_agent_name": "envoy"%s}}}`, prefix, build)
	}
	listeners := `{"@type": "` + prefix + `envoy.admin.v3.ListenersConfigDump"}`
	for text, want := range map[string]string{
		listeners:     "",
		bootstrap(""): "",
		bootstrap(`, "user_agent_build_version": {"version": {"major_number": 1, "minor_number": 36, "patch": 4}, "metadata": {"build.type": "RELEASE"}}`):           "1.36.4",
		bootstrap(`, "user_agent_build_version": {"version": {"major_number": 1, "minor_number": 37}}`):                                                              "1.37.0",
		camelCase(bootstrap(`, "user_agent_build_version": {"version": {"major_number": 1, "minor_number": 40, "patch": 1}}`)):                                       "1.40.1",
		bootstrap(`, "user_agent_build_version": {"version": {"major_number": 1, "minor_number": 41}, "metadata": {"build.label": "dev", "build.type": "RELEASE"}}`): "1.41.0-dev",
		bootstrap(`, "user_agent_version": "1.36.4"`): "1.36.4",
		bootstrap(`, "user_agent_build_version": {"version": {"major_number": 1, "minor_number": 40}, "metadata": {"revision.sha": "9e5580933739775e8bce696a57a2e1bc99368f23"}}`): "1.40.0",
		bootstrap(`, "user_agent_build_version": {"version": {"major_number": 1, "minor_number": 40}, "metadata": {"revision.sha": "0123456789abcdef"}}`):                         "1.40.0-0123456789ab",
		bootstrap(`, "user_agent_build_version": {"version": {"major_number": 1, "minor_number": 90}, "metadata": {"revision.sha": "0123456789abcdef"}}`):                         "1.90.0",
		bootstrap(`, "user_agent_build_version": {"version": {"major_number": 1, "minor_number": 40}, "metadata": {"build.label": ["dev"]}}`):                                     "1.40.0-unreadable",
	} {
		if got := readDump(t, []byte(`{"configs": [`+text+`]}`)).Envoy; got != want {
			t.Errorf("%s: version %q, want %q", text, got, want)
		}
	}
}
