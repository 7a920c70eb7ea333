package alert

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	postTimeout = 10 * time.Second
	maxAnswer   = 16 << 10 // at most so much of an answer is read
	longestWait = 10 * time.Minute
)

// outcome is the result of sending a message. It has no text of the receiver or of the
// transport, because both could repeat the address.
type outcome struct {
	code   string // "ok", "status", "redirect", "timeout", "refused", "dns", "tls", "network", "stopped"
	status int
	after  time.Duration // that the receiver asked us to wait; 0: did not
}

func (o outcome) ok() bool { return o.code == "ok" }

// newClient makes a client that follows no redirects and has short timeouts. Without a
// transport it makes one, which checks certificates.
func newClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			TLSHandshakeTimeout:    5 * time.Second,
			ResponseHeaderTimeout:  postTimeout,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        30 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			ForceAttemptHTTP2:      true,
		}
	}
	return &http.Client{Transport: transport, Timeout: postTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// post sends one message.
func post(ctx context.Context, client *http.Client, to secret, body []byte) outcome {
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to(), bytes.NewReader(body))
	if err != nil {
		return outcome{code: "network"}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "shardboard")
	answer, err := client.Do(r)
	if err != nil {
		return outcome{code: classify(ctx, err)}
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer) // so that the connection can be used again
	switch s := answer.StatusCode; {
	case s >= 200 && s < 300:
		return outcome{code: "ok", status: s}
	case s >= 300 && s < 400:
		return outcome{code: "redirect", status: s}
	default:
		return outcome{code: "status", status: s, after: retryAfter(answer.Header.Get("Retry-After"), time.Now())}
	}
}

func classify(ctx context.Context, err error) string {
	var dns *net.DNSError
	var timeout net.Error
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var authority x509.UnknownAuthorityError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return "stopped"
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &dns):
		return "dns"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.As(err, &verify), errors.As(err, &record), errors.As(err, &authority):
		return "tls"
	}
	return "network"
}

// retryAfter reads the header's two forms: seconds, and the date of a clock that may differ from ours.
func retryAfter(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if n, err := strconv.Atoi(text); err == nil {
		return min(time.Duration(min(max(n, 0), 3600))*time.Second, longestWait)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), longestWait)
	}
	return 0
}
