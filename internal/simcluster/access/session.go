package access

import "slices"

// Session holds the authenticated users of one connection. It is used by one command at
// a time and needs no lock.
type Session struct {
	control *Control
	open    *conversation
	users   []member

	change uint64 // Control.change when grants was computed
	fresh  bool
	grants Privileges
	roles  []Name // direct and inherited
}

// member is a signed-in user. A different id means that the user was dropped and
// created again.
type member struct {
	name Name
	id   [16]byte
}

// NewSession makes an anonymous session for a new connection.
func (c *Control) NewSession() *Session { return &Session{control: c} }

// join signs a user in and replaces another user of the same database.
func (s *Session) join(user Name) {
	c := s.control
	c.mu.RLock()
	a := c.accounts[user]
	c.mu.RUnlock()
	s.leave(user.DB)
	if a != nil {
		s.users = append(s.users, member{user, a.id})
	}
	s.fresh = false
}

// leave signs out the user of a database.
func (s *Session) leave(db string) {
	s.users = slices.DeleteFunc(s.users, func(m member) bool { return m.name.DB == db })
	s.fresh = false
}

// current updates the session after changes of users and roles.
func (s *Session) current() {
	c := s.control
	c.mu.RLock()
	defer c.mu.RUnlock()
	if s.fresh && s.change == c.change {
		return
	}
	s.users = slices.DeleteFunc(s.users, func(m member) bool {
		a := c.accounts[m.name]
		return a == nil || a.id != m.id
	})
	var direct []Name
	for _, m := range s.users {
		direct = append(direct, c.accounts[m.name].roles...)
	}
	s.grants, s.roles = c.resolve(direct)
	s.change, s.fresh = c.change, true
}

// SignedIn reports whether a user is signed in.
func (s *Session) SignedIn() bool {
	s.current()
	return len(s.users) > 0
}

// Owner identifies the users of the session, as the owner of cursors and sessions;
// empty for anonymous.
func (s *Session) Owner() string {
	s.current()
	owner := ""
	for _, m := range s.users {
		owner += m.name.id() + "\x00"
	}
	return owner
}

// May reports whether all actions are allowed on a resource.
func (s *Session) May(target Resource, actions ...string) bool {
	s.current()
	return s.grants.May(target, actions...)
}

// MayAnythingIn reports whether any action is allowed in a database.
func (s *Session) MayAnythingIn(db string) bool {
	s.current()
	return s.grants.anyIn(db)
}

// MayAnythingOn reports whether any action is allowed on a collection.
func (s *Session) MayAnythingOn(db, coll string) bool {
	s.current()
	return s.grants.any(OnNamespace(db, coll))
}

// is reports whether this user is signed in.
func (s *Session) is(user Name) bool {
	return slices.ContainsFunc(s.users, func(m member) bool { return m.name == user })
}

// has reports whether the session has a role, directly or by inheritance.
func (s *Session) has(role Name) bool {
	s.current()
	return slices.Contains(s.roles, role)
}
