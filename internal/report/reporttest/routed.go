package reporttest

import "github.com/meshproof/meshproof/internal/report"

// TimedOut is a request through a sidecar that its request timeout ended, as wanted, after a time in
// milliseconds. The time must be between 190 and 280.
func TimedOut(after float64) report.RoutedRequest {
	return report.RoutedRequest{
		From: "web", To: "MeshService/backend:80", Protocol: "http", Path: "/slow", Header: []string{"x-version: 2"}, Answer: "never", Want: "504", Passed: true,
		Outcome: "HTTP 504 with 24 bytes, whole", Got: "504", Bytes: 24, Cause: "requestTimeout", Route: "kri_mhttpr_default__ns_slow_", Backends: []string{"backend/main"}, Backend: "backend/main",
		Limit: "requestTimeout 200ms", By: "kri_mt_default__ns_t_", Place: "policies.yaml:9: spec.to[0].default.http.requestTimeout", Verdict: "allow by all",
		Window: &report.Window{From: 190, To: 280}, WantedMilliseconds: 200, Milliseconds: after, Details: "response_timeout", Flags: []string{"UT"}, Attempts: 1, Tries: 1,
	}
}

// Answered is a request through a sidecar that one of two backends answered, as wanted.
func Answered(after float64) report.RoutedRequest {
	return report.RoutedRequest{
		From: "web", To: "MeshService/backend:80", Protocol: "http", Want: "200", Passed: true, Outcome: "HTTP 200 with 5 bytes, whole", Got: "200", Bytes: 5, Cause: "answered",
		Route: "kri_mhttpr_default__ns_slow_", Backends: []string{"backend/main", "backend-v2/main"}, Backend: "backend/main", Verdict: "allow by all",
		WantedMilliseconds: 80, Milliseconds: after, Details: "via_upstream", Attempts: 1, Tries: 1,
	}
}

// NewRoutedCase is a case of requests through sidecars.
func NewRoutedCase(name, story string, requests ...report.RoutedRequest) report.Case {
	return Changed(NewCase(name, story, "1"), func(c *report.Case) {
		c.RoutedRequests = requests
		for _, q := range requests {
			c.Passed = c.Passed && q.Passed
		}
	})
}
