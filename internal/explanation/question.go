package explanation

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/policy"
)

// Question is the request that is explained, as the flags of a command say it.
type Question struct {
	flags   *pflag.FlagSet
	from    []string
	headers []string
	claims  []string
	request cases.Request
}

// Add adds the flags of the request to those of a command.
func (q *Question) Add(to *pflag.FlagSet) {
	q.flags = pflag.NewFlagSet("", pflag.ContinueOnError)
	q.flags.StringArrayVar(&q.from, "from", nil, "SPIFFE ID of the `caller`, or its name: a caller or workload of the case, a Dataplane, plaintext or anonymous; a DNS SAN as dns:NAME; repeat it for a certificate with several SANs, leave it out for a certificate without any")
	q.flags.StringVar(&q.request.SNI, "sni", "", "server name that the caller sends in its TLS handshake; leave it out for none")
	q.flags.Func("source", "`address` that the caller connects from; leave it out for its own", func(text string) (err error) {
		q.request.SourceIP, err = endpoint.Caller(text)
		return err
	})
	q.flags.StringVar(&q.request.Method, "method", "GET", "HTTP method")
	q.flags.StringVar(&q.request.Path, "path", "/", "path as sent; it is judged as the listener normalizes it")
	q.flags.StringVar(&q.request.Authority, "authority", "", "`host` of the request, with a port or without; leave it out for the address of the inbound")
	q.flags.StringArrayVar(&q.headers, "header", nil, "header line as `\"name: value\"`; repeat it for several lines, in the order of sending")
	q.flags.StringArrayVar(&q.claims, "claim", nil, "claim of the token as `key=text`, such as sub=alice, or groups[]=dev for a text of a list; leave it out for no token")
	to.AddFlagSet(q.flags)
}

// Changed returns the name of a flag of the request that was set, and "" where none was.
func (q *Question) Changed() (name string) {
	// The set of the command notes what was set, and marks the flag that both sets have.
	q.flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			name = f.Name
		}
	})
	return name
}

// Read returns the caller and the request. It returns an error for a request that cannot be sent.
func (q *Question) Read() (Caller, cases.Request, error) {
	from, err := ParseCaller(q.from)
	if err != nil {
		return Caller{}, cases.Request{}, fmt.Errorf("--from: %w", err)
	}
	if err := checkRequestLine(q.request.Method, q.request.Path); err != nil {
		return Caller{}, cases.Request{}, err
	}
	if err := servername.Check(q.request.SNI); err != nil {
		return Caller{}, cases.Request{}, fmt.Errorf("--sni: %w", err)
	}
	if err := requestline.CheckAuthority(q.request.Authority); err != nil {
		return Caller{}, cases.Request{}, fmt.Errorf("--authority: %w", err)
	}
	if q.request.Token, err = parseClaims(q.claims); err != nil {
		return Caller{}, cases.Request{}, fmt.Errorf("--claim: %w", err)
	}
	q.request.Headers = nil
	for _, line := range q.headers {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return Caller{}, cases.Request{}, fmt.Errorf("--header: %q has no colon between the name and the value", line)
		}
		h := policy.Header{Name: name, Value: strings.TrimPrefix(value, " ")}
		if err := requestline.CheckHeader(h); err != nil {
			return Caller{}, cases.Request{}, fmt.Errorf("--header: %w", err)
		}
		q.request.Headers = append(q.request.Headers, h)
	}
	return from, q.request, nil
}
