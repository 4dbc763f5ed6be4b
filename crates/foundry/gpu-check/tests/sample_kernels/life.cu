//| now: unsigned char[900] < 2
//| next: unsigned char[900] out
//| w = 30
//| h = 30
// launch: <<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>
__global__ void life(const unsigned char* now, unsigned char* next, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) count += now[(y + dy + h) % h * w + (x + dx + w) % w];
    next[y * w + x] = count == 3 || (count == 2 && now[y * w + x]);
}
__global__ void plain(const unsigned char* now, unsigned char* next, int w, int h) {
    for (int i = 0; i < w * h; i++) {
        int x = i % w, y = i / w, count = -now[i];
        for (int k = 0; k < 9; k++) count += now[(y + k / 3 - 1 + h) % h * w + (x + k % 3 - 1 + w) % w];
        next[i] = count == 3 || (count == 2 && now[i]);
    }
}
