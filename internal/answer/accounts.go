package answer

import (
	"shardboard/internal/api"
	"shardboard/internal/auth"
)

func ApiUser(u auth.User) api.User {
	return api.User{ID: u.ID, Name: u.Name, Role: string(u.Role), Disabled: u.Disabled, BreakGlass: u.BreakGlass,
		Created: u.Created.UTC(), LastLogin: api.Time(u.LastLogin)}
}

func ApiSession(x auth.Session) api.Session {
	return api.Session{ID: x.ID, Subject: x.Subject, Name: x.Name, Role: string(x.Role), Method: string(x.Method), From: x.From,
		Created: x.Created.UTC(), Used: x.Used.UTC(), Ends: x.Ends.UTC(), Current: x.Current}
}

func ApiToken(x auth.Token) api.Token {
	return api.Token{ID: x.ID, Name: x.Name, Role: string(x.Role), Owner: x.Owner,
		Created: x.Created.UTC(), Expires: x.Expires.UTC(), Used: api.Time(x.Used), Revoked: api.Time(x.Revoked)}
}
