# SPDX-License-Identifier: MIT
"""What the end-to-end tests stand on: the fault origin, real servers, and programs run with and without tenacurl."""
