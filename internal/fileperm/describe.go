package fileperm

import (
	"fmt"
	"io/fs"
	"os/user"
	"strconv"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// refuse makes the error of a rejected file.
func refuse(format string, args ...any) error { return fault.New(fault.Invalid, format, args...) }

// modeAndOwner is mode and owner for a rejection.
func (e entry) modeAndOwner() string {
	return fmt.Sprintf("mode %s, owner %s", octal(e.mode), userName(e.uid))
}

// octal is a mode for chmod, with the special bits.
func octal(m fs.FileMode) string {
	n := uint32(m.Perm())
	for bit, special := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if m&bit != 0 {
			n |= special
		}
	}
	return fmt.Sprintf("%04o", n)
}

func userName(uid int) string {
	if uid < 0 {
		return "unknown"
	}
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return fmt.Sprintf("%s (uid %d)", sanitize.Line(u.Username), uid)
	}
	return fmt.Sprintf("uid %d", uid)
}

func groupName(gid int) string {
	if g, err := user.LookupGroupId(strconv.Itoa(gid)); err == nil {
		return fmt.Sprintf("%s (gid %d)", sanitize.Line(g.Name), gid)
	}
	return fmt.Sprintf("gid %d", gid)
}

// show is a path for a sentence.
func show(path string) string { return sanitize.Line(path) }

const plainPath = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_+=:,./-"

// Quote writes a path as one shell word on one line: plain if that is safe, in single quotes if all
// of it is visible, else as $'…', which bash, zsh and ksh decode.
func Quote(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path // never parsed as an option
	}
	switch {
	case path != "" && strings.Trim(path, plainPath) == "":
		return path
	case sanitize.Line(path) == path:
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(path) {
		switch c := path[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
