package auth

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const (
	tokenLifetime        = 366 * 24 * time.Hour
	outsideTokenLifetime = 30 * 24 * time.Hour // for users from outside: nothing tells shardboard when they leave
)

// Tokens returns by's own tokens, newest first; all tokens for an admin; itself for a token below
// admin.
func (s *Service) Tokens(ctx context.Context, by Principal) ([]Token, error) {
	owner, err := s.visibleTo(by)
	if err != nil {
		return nil, err
	}
	rows, err := s.o.Store.Tokens(ctx, owner)
	if owner != "" && by.Method == ByToken {
		rows = make([]store.Token, 1)
		rows[0], err = s.o.Store.Token(ctx, strings.TrimPrefix(by.ID, "token:"))
	}
	if err != nil {
		return nil, err
	}
	names, err := PeopleNames(ctx, s.o.Store)
	if err != nil {
		return nil, err
	}
	out := make([]Token, 0, len(rows))
	for _, t := range rows {
		shown := tokenFromRow(t)
		shown.OwnerName = names[t.Owner]
		shown.Clusters = s.clustersOfToken(ctx, by, t)
		out = append(out, shown)
	}
	return out, nil
}

func tokenFromRow(t store.Token) Token {
	return Token{
		ID:      t.ID,
		Name:    t.Name,
		Role:    Role(t.Role),
		Owner:   t.Owner,
		Created: t.Created,
		Expires: t.Expires,
		Used:    t.Used,
		Revoked: t.Revoked,
		Bound:   t.Clusters != nil,
	}
}

// CreateToken creates an API key. The secret is returned once and stored nowhere. Only an admin's
// token can create tokens, and the new one gets the same owner and no later expiry.
func (s *Service) CreateToken(ctx context.Context, by Principal, n NewToken) (string, Token, error) {
	limit, err := s.mayCreate(ctx, by, n)
	if err != nil {
		return "", Token{}, err
	}
	now := s.o.Now()
	switch {
	case !n.Expires.After(now):
		return "", Token{}, fault.New(fault.Invalid, "A token's expiry must be in the future.")
	case n.Expires.After(limit):
		return "", Token{}, fault.New(
			fault.Invalid,
			"Your tokens can be valid until %s at the latest.",
			limit.UTC().Format("2006-01-02 15:04 MST"),
		)
	}
	owner, err := s.tokenOwner(ctx, by)
	if err != nil {
		return "", Token{}, err
	}
	secret, err := newToken(s.o.Random)
	if err != nil {
		return "", Token{}, err
	}
	id, err := newID(s.o.Random)
	if err != nil {
		return "", Token{}, err
	}
	row := store.Token{ID: id, Hash: digest(secret), Name: n.Name, Role: string(n.Role), Owner: owner, Created: now, Expires: n.Expires}
	details := []string{"name", n.Name, "role", row.Role, "owner", owner, "expires", n.Expires.UTC().Format(time.RFC3339)}
	if n.Clusters != nil {
		row.Role, row.Clusters = string(ClustersOnly), textsOf(n.Clusters)
		details[3] = row.Role
		details = append(details, "clusters", rolesText(n.Clusters))
	}
	if !strings.HasPrefix(owner, "user:") {
		row.OwnerRole, row.OwnerGroups = string(creatorsRole(by)), by.Groups
	}
	err = s.o.Store.CreateToken(ctx, row, s.entry(by, auditTokenCreated, "token:"+id, "ok", details...))
	if err != nil {
		return "", Token{}, err
	}
	made := tokenFromRow(row)
	made.Clusters = s.clustersOfToken(ctx, by, row)
	return secret, made, nil
}

// creatorsRole is the role that the owner of a new token has on the server.
func creatorsRole(by Principal) Role {
	if by.Method == ByToken {
		return by.OwnerRole
	}
	return by.Role
}

// mayCreate checks that by may create the token and returns its latest possible expiry.
func (s *Service) mayCreate(ctx context.Context, by Principal, n NewToken) (limit time.Time, err error) {
	limit = s.o.Now().Add(tokenLifetime)
	switch {
	case by.ID == "":
		return limit, ErrNobody
	case s.o.Mode.Off():
		return limit, ErrNoAccounts
	case by.Method == ByToken && !by.May(Admin):
		return limit, fault.New(fault.Forbidden, "Only an admin's token can create tokens. Sign in and create it under Settings.")
	case n.Name == "" || len(n.Name) > 100 || !utf8.ValidString(n.Name):
		return limit, fault.New(fault.Invalid, "A token needs a name of at most 100 bytes that says what uses it.")
	}
	if err := s.mayGive(by, n); err != nil {
		return limit, err
	}
	switch {
	case by.Method == ByBreakGlass:
		return limit, fault.New(fault.Forbidden, "The break-glass account cannot create tokens: they would stay valid after the emergency.")
	case by.Method == ByToken:
		t, err := s.o.Store.Token(ctx, strings.TrimPrefix(by.ID, "token:"))
		return t.Expires, err
	case !strings.HasPrefix(by.ID, "user:") && by.Method != ByConsole:
		limit = s.o.Now().Add(outsideTokenLifetime)
	}
	return limit, nil
}

// RevokeToken permanently ends a token that by can see.
func (s *Service) RevokeToken(ctx context.Context, by Principal, id string) error {
	owner, err := s.visibleTo(by)
	if err != nil {
		return err
	}
	t, err := s.o.Store.Token(ctx, id)
	if err != nil {
		return err
	}
	if itself := by.Method == ByToken && by.ID == "token:"+t.ID; owner != "" && t.Owner != owner && !itself {
		return fault.New(fault.NotFound, "There is no such token.")
	}
	if err := s.o.Store.RevokeToken(ctx, id, s.o.Now(), s.entry(by, auditTokenRevoked, "token:"+id, "ok", "name", t.Name)); err != nil {
		return err
	}
	s.endSignals.end("token:" + id)
	return nil
}

// tokenOwner is the owner of tokens that by creates: by itself, or the owner of the token that by
// is.
func (s *Service) tokenOwner(ctx context.Context, by Principal) (string, error) {
	if by.Method != ByToken {
		return by.ID, nil
	}
	t, err := s.o.Store.Token(ctx, strings.TrimPrefix(by.ID, "token:"))
	return t.Owner, err
}
