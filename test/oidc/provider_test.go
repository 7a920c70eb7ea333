package oidc_test

import (
	"context"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

const (
	password     = "a password of the provider's"
	clientID     = "board"
	clientSecret = "the client's secret"
)

// people are the provider's users: anna is in two groups, bert in a group without a role.
type people map[string]*storage.User

func (p people) GetUserByID(id string) *storage.User { return p[id] }

func (p people) GetUserByUsername(name string) *storage.User {
	for _, u := range p {
		if u.Username == name {
			return u
		}
	}
	return nil
}

func (p people) ExampleClientID() string { return storage.ServiceUserID }

func newPeople() people {
	return people{
		"7a1": {ID: "7a1", Username: "anna", Password: password, FirstName: "Anna", LastName: "Example",
			Email: "anna@example.com", EmailVerified: true},
		"7b2": {ID: "7b2", Username: "bert", Password: password, FirstName: "Bert", LastName: "Example", Email: "bert@example.com"},
	}
}

// claims are the provider's additional claims.
type claims struct {
	scope    string                    // required scope; "" adds the claims always
	userInfo map[string]map[string]any // by user id
	idToken  map[string]map[string]any
}

// provider is the example server extended by groups.
type provider struct {
	*storage.Storage
	claims claims
}

// SetUserinfoFromToken is for the UserInfo endpoint.
func (p *provider) SetUserinfoFromToken(ctx context.Context, info *oidc.UserInfo, tokenID, subject, origin string) error {
	if err := p.Storage.SetUserinfoFromToken(ctx, info, tokenID, subject, origin); err != nil {
		return err
	}
	if p.claims.scope == "" || p.granted(ctx, tokenID, subject) {
		add(info, p.claims.userInfo[subject])
	}
	return nil
}

// granted reads the token's scopes from the storage by introspection.
func (p *provider) granted(ctx context.Context, tokenID, subject string) bool {
	var r oidc.IntrospectionResponse
	return p.SetIntrospectionFromToken(ctx, &r, tokenID, subject, clientID) == nil &&
		strings.Contains(" "+strings.Join(r.Scope, " ")+" ", " "+p.claims.scope+" ")
}

// SetUserinfoFromRequest is for the ID token.
func (p *provider) SetUserinfoFromRequest(ctx context.Context, info *oidc.UserInfo, token op.IDTokenRequest, scopes []string) error {
	if err := p.Storage.SetUserinfoFromRequest(ctx, info, token, scopes); err != nil {
		return err
	}
	add(info, p.claims.idToken[token.GetSubject()])
	return nil
}

func add(info *oidc.UserInfo, claims map[string]any) {
	for name, v := range maps.All(claims) {
		info.AppendClaims(name, v)
	}
}

// GetClientByClientID allows the client to request the scope of the groups.
func (p *provider) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	c, err := p.Storage.GetClientByClientID(ctx, id)
	return withScope{c, p.claims.scope}, err
}

type withScope struct {
	op.Client
	scope string
}

func (c withScope) IsScopeAllowed(scope string) bool { return scope == c.scope }

// serve runs the provider until the test ends. back is the client's redirect address.
func serve(t *testing.T, l net.Listener, back string, c claims) {
	t.Helper()
	storage.RegisterClients(storage.WebClient(clientID, clientSecret, back))
	p := &provider{storage.NewStorage(newPeople()), c}
	s := &http.Server{Handler: exampleop.SetupServer("http://"+l.Addr().String(), p, nil, false)}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		<-ended
	})
}

// must ends the test at an error of its set-up.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
