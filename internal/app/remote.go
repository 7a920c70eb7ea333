package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
)

const (
	remoteTimeout   = 30 * time.Second // timeout of one request
	remoteMaxAnswer = 64 << 20         // largest answer in bytes
)

// ErrNoAnswer is in the chain of an error after which it is unknown whether the server did what it
// was asked for.
var ErrNoAnswer = errors.New("no whole answer")

// Remote is the API of a running server, for the command line.
type Remote struct {
	base  *url.URL
	token string
}

// ReadRemote parses a server's address and takes a token from a text or a file. It refuses to send
// a token over a network without TLS.
func ReadRemote(server, token, tokenFile string) (Remote, error) {
	base, err := url.Parse(strings.TrimRight(server, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil || base.RawQuery != "" ||
		base.Fragment != "" {
		return Remote{}, fault.New(fault.Invalid, "The server address is not like https://shardboard.example or http://127.0.0.1:8090.")
	}
	if token != "" && tokenFile != "" {
		return Remote{}, fault.New(fault.Invalid, "Give the token by SHARDBOARD_TOKEN or by SHARDBOARD_TOKEN_FILE, not both.")
	}
	if tokenFile != "" {
		text, err := ReadSecret("token", tokenFile)
		if err != nil {
			return Remote{}, err
		}
		token = strings.TrimSpace(text)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Remote{}, fault.New(fault.Invalid, "The token contains characters that tokens never have. Check that it was copied completely.")
	}
	if token != "" && base.Scheme == "http" && !isLoopbackHost(base.Hostname()) {
		return Remote{}, fault.New(
			fault.Invalid,
			"Refusing to send a token to %s without TLS: everybody on the network path could read it. Use https.",
			base.Host,
		)
	}
	return Remote{base, token}, nil
}

func isLoopbackHost(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// String is the address; never the token.
func (r Remote) String() string {
	if r.base == nil {
		return ""
	}
	return r.base.String()
}

// Get sends a GET request and decodes the JSON answer.
func (r Remote) Get(ctx context.Context, path string, into any) error {
	return r.Do(ctx, http.MethodGet, path, nil, into)
}

// Do sends a request with a JSON body (nil: none) and decodes the JSON answer (nil: ignored). A
// problem that the server returns becomes an error of the same kind.
func (r Remote) Do(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, remoteTimeout)
	defer cancel()
	var send io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		send = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.String()+path, send)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "The server address is not a URL.")
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	// Following a redirect would send the token elsewhere or return a page.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return fault.Wrap(fault.Unavailable, errors.Join(ErrNoAnswer, err), "No server answers at %s.", r)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, remoteMaxAnswer+1))
	switch {
	case err != nil:
		return fault.Wrap(fault.Unavailable, errors.Join(ErrNoAnswer, err), "The connection to %s broke in the middle of the answer.", r)
	case len(text) > remoteMaxAnswer:
		return fault.New(fault.Unavailable, "The answer of %s is longer than %d bytes.", r, remoteMaxAnswer)
	case res.StatusCode/100 != 2:
		return r.problemError(res, text)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fault.Wrap(fault.Unavailable, err, "The server at %s is not shardboard: its answer is not the expected JSON.", r)
	}
	return nil
}

func (r Remote) problemError(res *http.Response, text []byte) error {
	var p api.Problem
	if json.Unmarshal(text, &p) != nil || p.Status == 0 {
		p = api.NewProblem(res.StatusCode, fmt.Sprintf("The server at %s answers %s.", r, res.Status), "")
	}
	err := p.Fault()
	if len(p.Changed)+len(p.Checks) > 0 {
		return &Refusal{Problem: p, Err: err}
	}
	var f *fault.Error
	if res.StatusCode == http.StatusUnauthorized && r.token == "" && errors.As(err, &f) {
		return fault.Wrap(
			f.Kind,
			err,
			"The server at %s requires sign-in: put a token into SHARDBOARD_TOKEN or a file into SHARDBOARD_TOKEN_FILE.",
			r,
		)
	}
	return err
}
