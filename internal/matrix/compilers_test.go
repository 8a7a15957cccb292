package matrix_test

import (
	"context"
	"sync"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// honest is meshproof's own compiler, as an importer would plug it in.
func honest(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
	return suite.CompileOne(ctx, suite.Reference, in, docs, opts)
}

// open lets every caller in where a compiler is dishonest.
func open(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
	return suite.CompileOne(ctx, suite.AllowEverything, in, docs, opts)
}

// openInPlaintext lets in callers without TLS.
func openInPlaintext(f xds.Filters) xds.Filters {
	for i, filter := range f.Network {
		f.Network[i] = proto.CloneOf(filter)
		for _, p := range f.Network[i].Rules.GetPolicies() {
			p.Principals = append(p.Principals, &rbacv3.Principal{Identifier: &rbacv3.Principal_NotId{
				NotId: &rbacv3.Principal{Identifier: &rbacv3.Principal_Authenticated_{Authenticated: &rbacv3.Principal_Authenticated{}}},
			}})
		}
	}
	return f
}

// kept is an honest compiler that keeps its answers by a key.
func kept(key func(policy.Inbound, []manifest.Document, language.Options) string) suite.CompilerFunc {
	var mu sync.Mutex
	answers := map[string]xds.Filters{}
	return func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
		mu.Lock()
		defer mu.Unlock()
		k := key(in, docs, opts)
		if f, ok := answers[k]; ok {
			return f, nil
		}
		f, err := honest(ctx, in, docs, opts)
		if err == nil {
			answers[k] = f
		}
		return f, err
	}
}
