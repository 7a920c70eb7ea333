package fileperm

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// keepsSecret checks who may read.
func (me identity) keepsSecret(what string, e entry) error {
	open := fs.FileMode(0o077)
	if e.uid == 0 && me.uid != 0 {
		open = 0o037
	}
	switch {
	case e.mode&fs.ModeCharDevice != 0: // a terminal or /dev/null stores nothing
		return nil
	case e.mode.IsDir():
		return refuse("The %s, %s, is a directory.", what, show(e.path))
	case !me.trusts(e.uid):
		return refuse(
			"The %s, %s (%s), belongs to another user than shardboard runs as (%s), who can read and change it. If it is yours to use, run "+
				"as root: chown %d %s",
			what,
			show(e.path),
			e.modeAndOwner(),
			userName(me.uid),
			me.uid,
			Quote(e.path),
		)
	case e.mode.Perm()&open == 0:
		return nil
	}
	const why = "The %s, %s (%s), can be read or written by others, who then have the secret. "
	const again = "; and change the secret if somebody may have read it."
	switch {
	case mounted(e.path):
		return refuse(
			why+"It is mounted: in Kubernetes set defaultMode: 0440 for the volume and fsGroup for the pod, in Docker uid and mode of the "+
				"secret (docs/data.md).",
			what,
			show(e.path),
			e.modeAndOwner(),
		)
	case e.uid == me.uid:
		return refuse(why+"Run: chmod 600 %s"+again, what, show(e.path), e.modeAndOwner(), Quote(e.path))
	case me.in(e.gid):
		return refuse(why+"Run as root: chmod 640 %s"+again, what, show(e.path), e.modeAndOwner(), Quote(e.path))
	}
	return refuse(why+"Run as root: chown %[4]d %[5]s && chmod 600 %[5]s"+again, what, show(e.path), e.modeAndOwner(), me.uid, Quote(e.path))
}

// mayTrust checks who may write.
func (me identity) mayTrust(what string, e entry) error {
	switch {
	case e.mode&fs.ModeCharDevice != 0:
		return nil
	case e.mode.IsDir():
		return refuse("The %s, %s, is a directory.", what, show(e.path))
	case !me.trusts(e.uid):
		return refuse(
			"The %s, %s (%s), belongs to another user than shardboard runs as (%s), who can change it. If it is yours to use, run as root: "+
				"chown %d %s",
			what,
			show(e.path),
			e.modeAndOwner(),
			userName(me.uid),
			me.uid,
			Quote(e.path),
		)
	}
	return me.notWritten(what, e)
}

// notWritten checks only the mode.
func (me identity) notWritten(what string, e entry) error {
	if e.worldWrites() || e.groupWrites(me) {
		return refuse(
			"The %s, %s (%s), can be changed by others, and shardboard would use what they write. Run: chmod go-w %s",
			what,
			show(e.path),
			e.modeAndOwner(),
			Quote(e.path),
		)
	}
	return nil
}

// mounted reports whether a container orchestrator put a secret there: below /run/secrets, or
// behind the links with which Kubernetes replaces all files of a volume at once, to a directory
// such as ..2026_01_01.
func mounted(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	return strings.HasPrefix(real, "/run/secrets/") || strings.Contains(real, "/..")
}
