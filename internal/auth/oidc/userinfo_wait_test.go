package oidc

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
)

// hanging answers like a provider, but never answers UserInfo.
type hanging struct{ http.Handler }

func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/userinfo" {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestAUserInfoRequestTimesOut(t *testing.T) {
	for _, missing := range []string{"groups", "preferred_username"} {
		synctest.Test(t, func(t *testing.T) {
			p := newUnservedProvider(t)
			p.Server = &httptest.Server{URL: "https://issuer.example"}
			p.info, p.without = map[string]any{}, []string{missing}
			i := p.issuer(t)
			i.client.Transport = hanging{p.handler()}
			began := time.Now()
			c, err := p.signIn(t, i)
			expect.Equal(t, time.Since(began), userInfoWait, "without %s: time that it took", missing)
			if missing == "groups" {
				if expectRefusal(t, err, "userinfo-failed"); fault.Of(err) != fault.Unavailable {
					t.Error(err)
				}
			} else if err != nil || strings.Join(c.Groups, ",") != "ops,staff" {
				t.Errorf("unexpected claims %+v, error %v", c, err)
			}
		})
	}
}
