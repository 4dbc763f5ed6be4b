// Included before every text: names that nvcc has without a header. A kernel's output goes nowhere.
#pragma once
#include "float.h"
#include "limits.h"
#include "stdint.h"
#define printf(...) (0)
#undef assert
#define assert(holds) ((holds) ? (void)0 : __trap())
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
