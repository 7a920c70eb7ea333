package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/configfile"
	"shardboard/internal/fault"
)

const (
	remoteTimeout   = 30 * time.Second // timeout of one request
	remoteMaxAnswer = 64 << 20         // largest answer in bytes
)

// ErrNoAnswer is in the chain of an error after which it is unknown whether the server did what it
// was asked for.
var ErrNoAnswer = errors.New("no whole answer")

// Remote is the API of a running server, for the command line; or that of Direct.
type Remote struct {
	base    *url.URL
	token   string
	cluster string            // of a server of several; "" for the only one
	direct  http.RoundTripper // answers in this process; nil: over the network
}

// serversOwn are the first parts of API addresses that are the server's and not a cluster's.
var serversOwn = []string{"users", "tokens", "sessions", "me", "audit", "data", "clusters"}

// Of is the API of one cluster of a server of several; "" leaves it as it is.
func (r Remote) Of(cluster string) (Remote, error) {
	if cluster == "" {
		return r, nil
	}
	if !configfile.ClusterName(cluster) {
		return r, fault.New(fault.Invalid, "--cluster %q is not the name of a cluster: it has a-z, 0-9 and - only.", cluster)
	}
	if r.cluster != "" && r.cluster != cluster {
		return r, fault.New(fault.Invalid, "The server address is of the cluster %s, and --cluster says %s: leave one of them out.", r.cluster,
			cluster)
	}
	r.cluster = cluster
	return r, nil
}

// address is the whole address of a path of the API.
func (r Remote) address(path string) string {
	within, ok := strings.CutPrefix(path, api.Prefix+"/")
	if first := within[:strings.IndexAny(within+"/", "/?")]; r.cluster == "" || !ok || slices.Contains(serversOwn, first) {
		return r.String() + path
	}
	return r.String() + "/c/" + r.cluster + path
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
	r := Remote{base: base, token: token}
	if at := strings.LastIndex(base.Path, "/c/"); at >= 0 && configfile.ClusterName(base.Path[at+3:]) { // the address of a cluster's pages
		r.cluster, base.Path = base.Path[at+3:], base.Path[:at]
	}
	return r, nil
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
	var send io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
		send = bytes.NewReader(text)
	}
	_, text, err := r.ask(ctx, method, path, send, "")
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return r.foreign(err)
	}
	return nil
}

// Read sends a GET request and returns the JSON answer as it came, with its ETag. The text is nil if
// the answer is still the one with the given tag; without a tag ("") it never is.
func (r Remote) Read(ctx context.Context, path, known string) (text []byte, tag string, err error) {
	res, text, err := r.ask(ctx, http.MethodGet, path, http.NoBody, known)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, "", ctx.Err()
	case err != nil:
		return nil, "", err
	case res.StatusCode == http.StatusNotModified:
		return nil, known, nil
	case !json.Valid(text):
		return nil, "", r.foreign(nil)
	}
	return text, res.Header.Get("ETag"), nil
}

func (r Remote) foreign(err error) error {
	return fault.Wrap(fault.Unavailable, cmp.Or(err, errors.New("no JSON")),
		"The server at %s is not shardboard: its answer is not the expected JSON.", r)
}

// ask sends one request and returns the answer with its whole body. An answer that is not a success
// is an error, except that the content is still the one with the tag.
func (r Remote) ask(ctx context.Context, method, path string, body io.Reader, tag string) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, remoteTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, r.address(path), body)
	if err != nil {
		return nil, nil, fault.Wrap(fault.Invalid, err, "The server address is not a URL.")
	}
	if body != http.NoBody {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	// Following a redirect would send the token elsewhere or return a page.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: r.direct}
	res, err := client.Do(req)
	if err != nil {
		return nil, nil, fault.Wrap(fault.Unavailable, errors.Join(ErrNoAnswer, err), "No server answers at %s.", r)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, remoteMaxAnswer+1))
	switch {
	case err != nil:
		return nil, nil, fault.Wrap(fault.Unavailable, errors.Join(ErrNoAnswer, err),
			"The connection to %s broke in the middle of the answer.", r)
	case len(text) > remoteMaxAnswer:
		return nil, nil, fault.New(fault.Unavailable, "The answer of %s is longer than %d bytes.", r, remoteMaxAnswer)
	case res.StatusCode/100 != 2 && (res.StatusCode != http.StatusNotModified || tag == ""):
		return nil, nil, r.problemError(res, text)
	}
	return res, text, nil
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
	if res.StatusCode == http.StatusNotFound && r.cluster != "" && strings.HasPrefix(p.Detail, "There is nothing at ") {
		return fault.Wrap(fault.NotFound, err, "The server at %s has no cluster %q that you may see, or does not answer this there. "+
			"shardboard get clusters lists the clusters.", r, r.cluster)
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
