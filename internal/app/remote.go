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
	remoteWait = 30 * time.Second // for one request
	remoteMost = 64 << 20         // bytes of one answer
)

// ErrNoAnswer is in the chain of an error after which nobody knows whether the
// server did what it was asked for.
var ErrNoAnswer = errors.New("no whole answer")

// Remote is a running server's API, as the command line asks it.
type Remote struct {
	base  *url.URL
	token string
}

// ReadRemote takes a server's address, and a token from a text or a file. A
// token is not sent unprotected over a network.
func ReadRemote(server, token, tokenFile string) (Remote, error) {
	base, err := url.Parse(strings.TrimRight(server, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
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
		return Remote{}, fault.New(fault.Invalid, "The token has characters that no token has.")
	}
	if token != "" && base.Scheme == "http" && !nearHost(base.Hostname()) {
		return Remote{}, fault.New(fault.Invalid, "Refusing to send a token to %s without TLS: everybody on the way could read it. Use https.", base.Host)
	}
	return Remote{base, token}, nil
}

func nearHost(name string) bool {
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

// Get reads the JSON answer of a path with its query.
func (r Remote) Get(ctx context.Context, path string, into any) error {
	return r.Do(ctx, http.MethodGet, path, nil, into)
}

// Do sends one request with a JSON body (nil: none) and reads the JSON answer
// (nil: none wanted). A problem that the server answers has the kind it has
// there.
func (r Remote) Do(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, remoteWait)
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
	// A redirect would take the token elsewhere, or answer with a page.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return fault.Wrap(fault.Unavailable, errors.Join(ErrNoAnswer, err), "No server answers at %s.", r)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, remoteMost+1))
	switch {
	case err != nil:
		return fault.Wrap(fault.Unavailable, errors.Join(ErrNoAnswer, err), "The answer of %s broke off.", r)
	case len(text) > remoteMost:
		return fault.New(fault.Unavailable, "The answer of %s is longer than %d bytes.", r, remoteMost)
	case res.StatusCode/100 != 2:
		return r.refused(res, text)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fault.Wrap(fault.Unavailable, err, "What answers at %s is not shardboard.", r)
	}
	return nil
}

func (r Remote) refused(res *http.Response, text []byte) error {
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
		return fault.Wrap(f.Kind, err, "The server at %s wants to know who you are: put a token into SHARDBOARD_TOKEN or a file into SHARDBOARD_TOKEN_FILE.", r)
	}
	return err
}
