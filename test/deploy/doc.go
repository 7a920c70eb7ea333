// Package deploy reads what is in deploy/, and the Dockerfile, as the programs do that they are written for: Helm and
// Kubernetes, Compose, BuildKit, systemd. None of these run here. It is a module of its own, because their libraries
// would be hundreds of modules of the program's.
package deploy
