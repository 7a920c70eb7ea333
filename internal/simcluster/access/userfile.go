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
// is "name" or "name@db", and no role means root. A name with spaces is in double
// quotes. The word $external instead of a password makes a user who signs in with the
// client certificate of that name. Empty lines and lines that begin with # are ignored.
func ReadUsers(r io.Reader) ([]User, error) { return readUsers(io.LimitReader(r, maxUserFile)) }

func readUsers(r io.Reader) ([]User, error) {
	var users []User
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		name, fields, err := splitLine(lines.Text())
		switch {
		case err != nil:
			return nil, fmt.Errorf("read users: line %d: %w", n, err)
		case name == "":
		case len(fields) == 0:
			return nil, fmt.Errorf("read users: line %d: a name and a password are wanted", n)
		case fields[0] == externalDB:
			users = append(users, User{Name: name, Certificate: true, Roles: fields[1:]})
		default:
			users = append(users, User{Name: name, Password: fields[0], Roles: fields[1:]})
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

// splitLine returns the name at the beginning of a line and the fields after it; the
// name is empty in lines to ignore.
func splitLine(line string) (name string, fields []string, err error) {
	line = strings.TrimSpace(line)
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		name, rest, closed := strings.Cut(quoted, `"`)
		if !closed || name == "" {
			return "", nil, fmt.Errorf("the name has no closing quote or is empty")
		}
		return name, strings.Fields(rest), nil
	}
	fields = strings.Fields(line)
	if len(fields) == 0 || strings.HasPrefix(line, "#") {
		return "", nil, nil
	}
	return fields[0], fields[1:], nil
}
