//go:build linux

package hold

// notifIDValid is SECCOMP_IOCTL_NOTIF_ID_VALID on processors that encode the direction of an ioctl in the two top
// bits.
const notifIDValid = 0x40082102
