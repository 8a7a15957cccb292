package authorization

import "fmt"

// Drafts says which hosts of routes older proxies of Linkerd take otherwise, with the first place: until August 2026
// (linkerd2-proxy, pull request 4605) a proxy compared a host with its case.
func Drafts(s Set) []string {
	for _, r := range s.Routes {
		if len(r.Hosts) > 0 && s.hasServers(r) {
			return []string{fmt.Sprintf("%s: a proxy of Linkerd before August 2026 compares the host %q with its case: a request for the same host in other letters takes another route there, or none",
				r.Place("spec.hostnames"), r.Hosts[0])}
		}
	}
	return nil
}
