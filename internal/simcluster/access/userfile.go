package access

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// String is a user without the password.
func (u User) String() string { return u.Name + " " + strings.Join(u.Roles, " ") }

// GoString is String.
func (u User) GoString() string { return u.String() }

// maxUserFile is the largest size of a file of users in bytes.
const maxUserFile = 64 << 10

// ReadUsers reads initial users from a file, so that passwords need not be on the
// command line. Each line has a name, a password and roles, separated by spaces; a role
// is "name" or "name@db", and no role means root. Empty lines and lines that begin with
// # are ignored.
func ReadUsers(r io.Reader) ([]User, error) { return readUsers(io.LimitReader(r, maxUserFile)) }

func readUsers(r io.Reader) ([]User, error) {
	var users []User
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 0 || strings.HasPrefix(fields[0], "#"):
		case len(fields) == 1:
			return nil, fmt.Errorf("read users: line %d: a name and a password are wanted", n)
		default:
			users = append(users, User{Name: fields[0], Password: fields[1], Roles: fields[2:]})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read users: %w", err)
	}
	if len(users) == 0 {
		return nil, fmt.Errorf("read users: the file names none")
	}
	return users, nil
}
