//go:build linux

package hold

// notifIDValid is SECCOMP_IOCTL_NOTIF_ID_VALID, as a processor spells it whose
// commands say the direction in two bits from the top.
const notifIDValid = 0x40082102
