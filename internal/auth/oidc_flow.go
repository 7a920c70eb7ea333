package auth

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	flowPrefix   = "shardboard-oidc-"
	flowLifetime = 10 * time.Minute
	maxFlows     = 8  // of one browser
	flowNameSize = 16 // characters of the state in the name of its cookie
)

// flow is one sign-in attempt at the issuer. The browser keeps it in a cookie of its own, so that several tabs can
// sign in at once: the callback is valid in that browser only, and many started attempts use no memory here. The cookie
// is signed, so that another site of the same domain cannot make one. Under TLS it cannot set one at all, because its
// name has the __Host- prefix; except below a path, which needs another one.
type flow struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"` // PKCE
	Next     string `json:"p"`
	Began    int64  `json:"t"` // seconds since 1970
}

// flowCookie is the cookie of an attempt. The state may come from an address that anybody can write.
func (s *Service) flowCookie(state, value string, maxAge int) *http.Cookie {
	return s.cookie(flowPrefix+flowName(state), value, maxAge)
}

func flowName(state string) string {
	if _, err := base64.RawURLEncoding.DecodeString(state); err != nil || len(state) < flowNameSize {
		return ""
	}
	return state[:flowNameSize]
}

// keepFlow sets the cookie of an attempt, and ends the browser's oldest attempts if there are many.
func (s *Service) keepFlow(w http.ResponseWriter, r *http.Request, f flow) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	old := s.flows(r)
	slices.SortFunc(old, func(a, b flow) int { return cmp.Compare(b.Began, a.Began) })
	for i, o := range old {
		if i >= maxFlows-1 {
			http.SetCookie(w, s.flowCookie(o.State, "", -1))
		}
	}
	http.SetCookie(w, s.flowCookie(f.State, base64.RawURLEncoding.EncodeToString(append(s.flowMAC(text), text...)),
		int(flowLifetime/time.Second)))
	return nil
}

func (s *Service) flowMAC(text []byte) []byte {
	m := hmac.New(sha256.New, s.o.FlowKey)
	m.Write(text)
	return m.Sum(nil)
}

// flows are the attempts of a browser that were begun here.
func (s *Service) flows(r *http.Request) (out []flow) {
	prefix := s.cookiePrefix() + flowPrefix
	for _, c := range r.Cookies() {
		if !strings.HasPrefix(c.Name, prefix) || len(c.Value) > 4096 {
			continue
		}
		all, err := base64.RawURLEncoding.DecodeString(c.Value)
		if err != nil || len(all) < sha256.Size || !hmac.Equal(all[:sha256.Size], s.flowMAC(all[sha256.Size:])) {
			continue
		}
		var f flow
		if json.Unmarshal(all[sha256.Size:], &f) == nil && c.Name == prefix+flowName(f.State) {
			out = append(out, f)
		}
	}
	return out
}

// readFlow returns this browser's attempt that a callback belongs to.
func (s *Service) readFlow(r *http.Request) (f flow, err error) {
	q := r.URL.Query()
	all := s.flows(r)
	at := slices.IndexFunc(all, func(f flow) bool { return hmac.Equal([]byte(f.State), []byte(q.Get("state"))) })
	switch {
	case len(all) == 0:
		return f, flowRefusal("not-begun-here")
	case at < 0:
		return f, flowRefusal("state")
	}
	f = all[at]
	f.Next = LocalPath(f.Next)
	if began := time.Unix(f.Began, 0); s.o.Now().Sub(began) > flowLifetime || began.After(s.o.Now().Add(time.Minute)) {
		return f, flowRefusal("too-late")
	}
	if q.Has("error") {
		return f, refuseIssuerError(q.Get("error"), q.Get("error_description"))
	}
	if q.Get("code") == "" {
		return f, flowRefusal("no-code")
	}
	return f, nil
}

// signedInMeanwhile says where to go when an attempt has ended, but another tab has signed this browser in since.
func (s *Service) signedInMeanwhile(r *http.Request, f flow, err error) (next string, ok bool) {
	var refused *Refusal
	if !errors.As(err, &refused) || !errors.Is(err, errFlow) {
		return "", false
	}
	secret := s.sessionSecret(r)
	if secret == "" {
		return "", false
	}
	row, err := s.o.Store.SessionByHash(r.Context(), digest(secret))
	if err != nil {
		return "", false
	}
	if _, _, err := s.checkSession(r.Context(), row); err != nil {
		return "", false
	}
	return cmp.Or(f.Next, "/"), true
}
