package grpcplane

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
)

// The files of the certificate provider.
const (
	chainFile = "chain.pem"
	keyFile   = "key.pem"
	caFile    = "ca.pem"
)

// writeCertificates writes the server's SVID, and the CAs of all trust domains that it
// takes callers of.
func (p *Plane) writeCertificates(domains []spiffeid.TrustDomain) error {
	svid, err := p.ca.Mint(serverID)
	if err != nil {
		return err
	}
	trusted, err := p.ca.BundleSet(domains...)
	if err != nil {
		return err
	}
	var cas bytes.Buffer
	for _, pem := range trusted.All() {
		cas.Write(pem)
	}
	for name, content := range map[string][]byte{chainFile: svid.ChainPEM(), keyFile: svid.KeyPEM(), caFile: cas.Bytes()} {
		if err := os.WriteFile(filepath.Join(p.dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// bootstrap is what the server is configured by, as gRFC A27 and A29 have it.
func bootstrap(socket, dir string) ([]byte, error) {
	type object = map[string]any
	contents, err := json.Marshal(object{
		"xds_servers": []object{{
			"server_uri": "unix://" + socket, "channel_creds": []object{{"type": "insecure"}}, "server_features": []string{"xds_v3"},
		}},
		"node":                                   object{"id": "grpcplane"},
		"server_listener_resource_name_template": listenerTemplate,
		"certificate_providers": object{certificates: object{
			"plugin_name": "file_watcher",
			"config": object{
				"certificate_file": filepath.Join(dir, chainFile), "private_key_file": filepath.Join(dir, keyFile),
				"ca_certificate_file": filepath.Join(dir, caFile), "refresh_interval": "3600s",
			},
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("grpcplane: bootstrap: %w", err)
	}
	return contents, nil
}
