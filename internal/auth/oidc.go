package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const (
	// CallbackPath is where the issuer redirects browsers to, under PublicURL.
	CallbackPath = "/login/oidc/callback"
	maxNext      = 1 << 10
)

// StartOIDC sets the flow cookie and returns the issuer's address to redirect to.
func (s *Service) StartOIDC(w http.ResponseWriter, r *http.Request, next string) (string, error) {
	if !s.o.Mode.Has(ModeOIDC) {
		return "", fault.New(fault.NotFound, "Sign-in by OIDC is not set up here.")
	}
	if !s.o.Store.Owner() {
		return "", store.ErrReadOnly
	}
	f := flow{Next: LocalPath(next), Began: s.o.Now().Unix()}
	for _, field := range []*string{&f.State, &f.Nonce, &f.Verifier} {
		secret, err := newSecret(s.o.Random)
		if err != nil {
			return "", err
		}
		*field = secret
	}
	to, err := s.o.Issuer.Address(r.Context(), f.State, f.Nonce, f.Verifier)
	if err != nil {
		return "", err // package oidc has logged the cause
	}
	return to, s.keepFlow(w, r, f)
}

// FinishOIDC handles the issuer's callback and starts a session if one of the user's groups has a
// role.
func (s *Service) FinishOIDC(w http.ResponseWriter, r *http.Request) (string, error) {
	if !s.o.Mode.Has(ModeOIDC) {
		return "", fault.New(fault.NotFound, "Sign-in by OIDC is not set up here.")
	}
	nobody := Principal{Method: ByOIDC, From: s.ClientAddr(r)}
	// Callbacks that another site can forge have a separate limit from those that only this browser
	// can send, so forged ones do not stop people from signing in.
	f, err := s.readFlow(r)
	if err != nil {
		if next, ok := s.signedInMeanwhile(r, f, err); ok {
			http.SetCookie(w, s.flowCookie(f.State, "", -1))
			return next, nil
		}
	}
	what := failedCode
	if err != nil {
		what = failedCallback
	}
	if wait, first := s.limits.failed(what, nobody.From); wait > 0 {
		if first {
			s.refused(r.Context(), nobody, auditLimited, "", "too many attempts")
		}
		return "", &TooMany{Wait: wait}
	}
	http.SetCookie(w, s.flowCookie(f.State, "", -1)) // the flow is used up whether it succeeds or not
	var claims Claims
	if err == nil {
		q := r.URL.Query()
		claims, err = s.o.Issuer.Exchange(r.Context(), Callback{Code: q.Get("code"), Issuer: q.Get("iss")}, f.Nonce, f.Verifier)
	}
	var p Principal
	if err == nil || claims.Subject != "" {
		var none error
		if p, none = s.principalFromClaims(claims); err == nil {
			err = none
		}
	}
	p.Method, p.From = ByOIDC, nobody.From
	if err != nil {
		s.refusedByOIDC(r.Context(), p, err)
		return "", err
	}
	s.limits.undoFailed(what, nobody.From)
	cookie, _, err := s.startSession(r.Context(), p, s.currentSession(r))
	if err != nil {
		return "", err
	}
	s.storeName(r.Context(), p)
	http.SetCookie(w, cookie)
	return f.Next, nil
}

// refusedByOIDC records a refused sign-in and logs what to change. who is the person as far as the
// issuer's answer proved it. The record's By stays empty, because the person was not signed in.
// Names of claims are recorded only when somebody was proved: others can try as often as the limit
// allows, and would fill the record.
func (s *Service) refusedByOIDC(ctx context.Context, who Principal, err error) {
	var r *Refusal
	if !errors.As(err, &r) {
		r = Refuse("failed", fault.Of(err), err, fault.Text(err), "")
	}
	if s.causes.AllowN(s.o.Now(), 1) { // an attacker must not decide how much is logged
		s.o.Log.Warn("sign-in by OIDC refused", "reason", r.Code, "subject", who.ID, "from", who.From, "advice", r.Advice,
			"idTokenClaims", r.Claims.IDToken, "userInfoClaims", r.Claims.UserInfo, "err", err)
	}
	nobody := Principal{Method: ByOIDC, From: who.From}
	if who.ID == "" {
		s.refused(ctx, nobody, auditRefused, "", r.Code)
		return
	}
	s.o.Refusals.Add(s.entry(nobody, auditRefused, who.ID, "refused", append(r.details(), "reason", r.Code, "name", who.Name)...))
}

// principalFromClaims returns the principal of an issuer's claims, with the greatest role of its
// groups. On refusal the id and name are still set, for the audit record.
func (s *Service) principalFromClaims(c Claims) (Principal, error) {
	if len(c.Subject) > 255 || !plainName(c.Subject) {
		r := Refuse("subject", fault.Forbidden, nil, "The issuer did not say who you are. Ask the administrator of the issuer.",
			"The claim \"sub\" has to be 1 to 255 printable characters.")
		r.Claims = c.Seen
		return Principal{}, r
	}
	sum := sha256.Sum256([]byte(c.Issuer))
	p := Principal{ID: "oidc:" + plain32.EncodeToString(sum[:8]) + ":" + c.Subject, Name: c.Name, Method: ByOIDC}
	if !plainName(p.Name) {
		p.Name = c.Subject
	}
	for _, group := range c.Groups {
		if role, ok := s.o.Roles[group]; ok && (p.Role == "" || role.Includes(p.Role)) {
			p.Role = role
		}
	}
	clusters := s.clusters()
	p.Groups = keptGroups(c.Groups, clusters)
	if p.Role != "" {
		return p, nil
	}
	p.Role = ClustersOnly
	if slices.ContainsFunc(clusters, func(c NamedRoles) bool { return c.Roles.admits(p) }) {
		return p, nil
	}
	p.Role = ""
	return p, noRoleRefusal(c, len(clusters) > 0)
}

// Bounds of the groups that a session keeps. An issuer may send thousands.
const (
	maxKeptGroups     = 200
	maxKeptGroupBytes = 16 << 10
)

// keptGroups are the groups that a session keeps, so that a changed configuration counts at once: those
// that clusters name now, and as many others as there is room for. On a server of one cluster none.
func keptGroups(groups []string, clusters []NamedRoles) (out []string) {
	if len(clusters) == 0 {
		return nil
	}
	others := func(group string) int {
		if slices.ContainsFunc(clusters, func(c NamedRoles) bool { _, named := c.Roles[groupKind+":"+group]; return named }) {
			return 0
		}
		return 1
	}
	first := slices.Clone(groups)
	slices.SortStableFunc(first, func(a, b string) int { return others(a) - others(b) })
	size := 0
	for _, group := range first {
		if size += len(group); size > maxKeptGroupBytes || len(out) == maxKeptGroups {
			break
		}
		out = append(out, group)
	}
	return out
}

// clusters are those of a server of several.
func (s *Service) clusters() []NamedRoles {
	if s.o.Clusters == nil {
		return nil
	}
	return s.o.Clusters()
}

// noRoleRefusal is the refusal for a known person whose groups have no role.
func noRoleRefusal(c Claims, several bool) error {
	claim := c.GroupsClaim
	if claim == "" {
		claim = "groups"
	}
	came := fmt.Sprintf("The claim %q has %d groups, and none of them is", claim, len(c.Groups))
	switch {
	case len(c.Groups) == 0:
		came = fmt.Sprintf("The claim %q came without a group, so none is", claim)
	case len(c.Groups) == 1:
		came = fmt.Sprintf("The claim %q has one group, which is not", claim)
	}
	among := " in --oidc-role-map"
	if several {
		among += " or in the roles of a cluster"
	}
	advice := came + among + ". Add a group of theirs there, or put the person into one of those at the issuer. Names of " +
		"groups are compared to the letter."
	if c.OneText && len(c.Groups) > 0 {
		advice += " The claim was one text, which is one group: it is not split at commas or spaces."
	}
	r := Refuse("no-role", fault.Forbidden, nil,
		"You are signed in at the issuer, but none of your groups has a role here. Ask an admin of shardboard which group you need.", advice)
	r.Claims = c.Seen
	return r
}

// currentSession is the id of the session that the browser has now; "" if none.
func (s *Service) currentSession(r *http.Request) string {
	secret := s.sessionSecret(r)
	if secret == "" {
		return ""
	}
	ctx := context.WithoutCancel(r.Context())
	row, err := s.o.Store.SessionByHash(ctx, digest(secret))
	if fault.Of(err) == fault.NotFound { // this request may have rotated it
		row, err = s.o.Store.SessionByFormer(ctx, digest(secret))
	}
	if err != nil {
		return ""
	}
	return row.ID
}

// LocalPath returns next if it is a path of this site, else "/". Browsers read a backslash as a
// slash and drop tabs and line ends, so paths with any of these are rejected.
func LocalPath(next string) string {
	if len(next) > maxNext || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.HasPrefix(next, "/login") ||
		strings.ContainsFunc(next, func(c rune) bool { return c <= ' ' || c == 0x7f || c == '\\' || c > 0x7e }) {
		return "/"
	}
	return next
}
