package demo;

public class NoTests {}
