package sqlite

import (
	"fmt"

	"shardboard/internal/fileperm"
	"shardboard/internal/store"
)

// remedy tells people what to do about a problem, with commands to copy. The files beside the
// database (-wal, -shm) belong to it and are moved with it.
func (f *file) remedy(c store.TroubleCode) string {
	aside := fmt.Sprintf("mkdir %[1]s/aside && mv %[2]s* %[1]s/aside/", fileperm.Quote(f.dir()), fileperm.Quote(f.path))
	on := "shardboard then continues by itself. Data stored before is safe; what happens meanwhile is not stored."
	if !f.isOpen() {
		on = "then start shardboard again. Data stored before is safe."
	}
	switch c {
	case store.TroubleDamaged:
		return fmt.Sprintf("Stop shardboard, move the files aside (%s), put a backup of %s in their place and start again. "+
			"Without a backup, sqlite3 can save what is readable (sqlite3 %s/aside/%s .recover | sqlite3 %s); without any of this shardboard "+
			"starts with an empty database.",
			aside, FileName, fileperm.Quote(f.dir()), FileName, fileperm.Quote(f.path))
	case store.TroubleForeign:
		return fmt.Sprintf("Nothing in it was changed. Choose another directory with --data-dir, or move the file aside (%s).", aside)
	case store.TroubleSchema:
		return fmt.Sprintf(
			"Stop shardboard, move the files aside (%s) and put a backup of %s in their place. Without a backup shardboard starts with an "+
				"empty database.", aside, FileName)
	case store.TroubleFull:
		return "Free some space or enlarge the disk; " + on
	case store.TroubleQuota:
		return "Raise the quota or remove other files of this user; " + on
	case store.TroubleReadOnly:
		return fmt.Sprintf(
			"Make it writable: find out why it was mounted read-only (dmesg; Linux does that after a disk error), mount -o remount,rw, or "+
				"give %s to the user that runs shardboard.", fileperm.Quote(f.dir()))
	case store.TroubleDenied:
		return fmt.Sprintf(
			"Give the directory and its files to the user that runs shardboard (chown -R %d %s; chmod -R u+rwX %[2]s), or choose another "+
				"with --data-dir.", f.uid, fileperm.Quote(f.dir()))
	case store.TroubleFiles:
		return "Raise the limit (ulimit -n, LimitNOFILE= in systemd) and restart shardboard; many open browsers need one file each."
	case store.TroubleBusy:
		return fmt.Sprintf("End that program (fuser -v %s shows which it is); %s", fileperm.Quote(f.path), on)
	case store.TroubleGone:
		return fmt.Sprintf("Stop shardboard, put %s back or restore a backup, and start again.", fileperm.Quote(f.path))
	case store.TroubleMemory:
		return "Give the process more memory (MemoryMax= in systemd, the limit of the container), or end other programs."
	}
	return "Check the system's messages (dmesg) and the health of the disk; copy the data directory to another disk while it can be read."
}
