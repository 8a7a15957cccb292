package routing_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/routing"
)

// An outbound is found by each of its names, and by none that could mean two.
func TestFind(t *testing.T) {
	t.Parallel()
	p := routing.Proxy{Outbounds: []routing.Outbound{
		{Name: "kri_msvc_default__a_backend_http", Port: 80, Service: routing.Service{Kind: "MeshService", Namespace: "a", Name: "backend", Section: "http"}},
		{Name: "kri_msvc_default__a_backend_81", Port: 81, Service: routing.Service{Kind: "MeshService", Namespace: "a", Name: "backend", Section: "81"}},
		{Name: "kri_msvc_default__b_backend_http", Port: 80, Service: routing.Service{Kind: "MeshService", Namespace: "b", Name: "backend", Section: "http"}},
	}}
	for text, want := range map[string]string{
		"kri_msvc_default__a_backend_http": "kri_msvc_default__a_backend_http",
		"MeshService/a/backend:http":       "kri_msvc_default__a_backend_http",
		"MeshService/b/backend:80":         "kri_msvc_default__b_backend_http",
		"MeshService/backend:81":           "kri_msvc_default__a_backend_81",
		"MeshService/backend:80":           `"MeshService/backend:80" may mean 2 outbounds: use one of kri_msvc_default__a_backend_http, kri_msvc_default__b_backend_http`,
		"backend":                          `there is no outbound "backend": use one of MeshService/a/backend:http, MeshService/a/backend:81, MeshService/b/backend:http`,
	} {
		got, err := p.Find(text)
		if err != nil && err.Error() != want || err == nil && got.Name != want {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
	long := routing.Proxy{Outbounds: make([]routing.Outbound, 22)}
	for i := range long.Outbounds {
		long.Outbounds[i].Service.Name = strings.Repeat("x", i)
	}
	if _, err := long.Find("y"); err == nil || !strings.HasSuffix(err.Error(), ", and 2 more") {
		t.Error(err)
	}
}
