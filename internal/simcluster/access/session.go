package access

import "slices"

// Session is what one connection has proven to be. It is used by one command at a
// time and needs no lock.
type Session struct {
	control *Control
	open    *conversation
	users   []member

	change uint64 // of the control when grants was made
	fresh  bool
	grants Privileges
	roles  []Name // direct and inherited
}

// member is a user who signed in. id tells whether it is still the same one.
type member struct {
	name Name
	id   [16]byte
}

// NewSession is the session of a new connection: nobody.
func (c *Control) NewSession() *Session { return &Session{control: c} }

// join signs a user in, in place of another of the same database.
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

// leave signs the user of a database out.
func (s *Session) leave(db string) {
	s.users = slices.DeleteFunc(s.users, func(m member) bool { return m.name.DB == db })
	s.fresh = false
}

// current brings the session up to the users and roles of now.
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

// SignedIn reports whether the connection is somebody.
func (s *Session) SignedIn() bool {
	s.current()
	return len(s.users) > 0
}

// Owner names who the connection is, for what belongs to a user; empty for nobody.
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

// MayAnythingIn reports whether anything is allowed in a database.
func (s *Session) MayAnythingIn(db string) bool {
	s.current()
	return s.grants.anyIn(db)
}

// MayAnythingOn reports whether anything is allowed on a collection.
func (s *Session) MayAnythingOn(db, coll string) bool {
	s.current()
	return s.grants.any(OnNamespace(db, coll))
}

// is reports whether the connection is this user.
func (s *Session) is(user Name) bool {
	return slices.ContainsFunc(s.users, func(m member) bool { return m.name == user })
}

// has reports whether the connection has a role, itself or by inheritance.
func (s *Session) has(role Name) bool {
	s.current()
	return slices.Contains(s.roles, role)
}
