package inspect

import (
	"fmt"
	"net/http"
)

// problem is the body of a refusal, in the form of Kuma's API and of RFC 9457.
type problem struct {
	Type   string `json:"type"`
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

func newProblem(status int, format string, a ...any) *problem {
	return &problem{Type: "/std-errors", Status: status, Title: http.StatusText(status), Detail: fmt.Sprintf(format, a...)}
}

func badRequest(format string, a ...any) *problem {
	return newProblem(http.StatusBadRequest, format, a...)
}

func notFound(format string, a ...any) *problem {
	return newProblem(http.StatusNotFound, format, a...)
}

func (p *problem) write(w http.ResponseWriter) {
	writeJSON(w, "application/problem+json", p.Status, p)
}
